// SPDX-License-Identifier: Apache-2.0
//
// ompt_frame_t of each task (OpenMP 5.2, section 19.4.3.3): where its code begins on the stack, and where it entered
// the runtime. An implicit task's ompt_frame_t is in its Member; an explicit task's follows its descriptor, if a tool
// has been started (Options::tool_started). Written by the thread that runs the task, read by it and by the threads of
// its descendants.
//
// exit_frame is the frame pointer of the function that calls the task's code, which is what the code itself finds as
// __builtin_frame_address(1). Where the program runs the code in line, that function is the program's, and the flags
// say so. enter_frame is an address in the frame of a runtime function that does not return before the task continues.
#pragma once

#include "base/memory/slab.hpp"
#include "config/options.hpp"
#include "sched/team.hpp"
#include "tool/tool.hpp"

namespace marline {

struct ToolTail {
  Task* beneath;  // the task that ran on the fiber when this one began over its frame; null: this is the fiber's first
  ompt::Frame frame;
  ompt::DispatchChunk chunk;     // the task's part of a taskloop, until the task begins; else no iterations
  marline_construct* construct;  // the device construct that the task is in
  const void* code;              // the compiler's function for the body
  bool is_target;                // set by the creator, before the task is reported to a tool
};
static_assert(sizeof(ToolTail) == Options::kToolTailBytes);

// Of an explicit task, only while a tool is there.
inline ToolTail* tool_tail(Task* task) {
  char* end = reinterpret_cast<char*>(task) + SlabPool::usable_bytes(task);
  return reinterpret_cast<ToolTail*>(end - options().priority.lineage_bytes) - 1;
}

inline ompt::Frame* frame_of(Task* task) {
  if (task->has(task_flag::kImplicit)) return &static_cast<Member*>(task->block)->frame;
  return &tool_tail(task)->frame;
}

// The device construct that the task is in; only while a tool is there.
inline marline_construct*& construct_of(Task* task) {
  if (task->has(task_flag::kImplicit)) return static_cast<Member*>(task->block)->construct;
  return tool_tail(task)->construct;
}

// Notes that the task is a target task. Called before the task is spawned.
inline void note_target(Task* task) {
  if (tool::present()) [[unlikely]] {
    tool_tail(task)->is_target = true;
  }
}

// Notes the part of a taskloop that the task is to execute. Called before the task is spawned.
inline void note_chunk(Task* task, uint64_t first, uint64_t iterations) {
  if (tool::present()) [[unlikely]] {
    tool_tail(task)->chunk = {first, iterations};
  }
}

// Whether what is around the member's region may be gone. While a task of the region runs, the region has not ended;
// nor has any that is around a region that has not.
inline bool is_around_gone(const Worker* worker, const Member* member) {
  return member == worker->member && member->is_leaving &&
         (worker->task == &member->implicit_task || worker->task == nullptr || worker->task->team != member->team);
}

// The tasks with frames on the stack of a thread, the current one first (ompt_get_task_info). Only in that thread.
class TasksOnStack {
 public:
  explicit TasksOnStack(const Worker* worker);
  [[nodiscard]] Task* task() const { return task_; }              // null: there are no more
  [[nodiscard]] const Member* member() const { return member_; }  // the thread's place in its team
  void outward();

 private:
  void to(Task* task);

  const Worker* worker_;
  const Fiber* fiber_;  // null: of another thread
  Task* task_;
  const Member* member_;
  Member* around_;  // the innermost region of the thread's that the walk has not left
};

void announce_taskloop_chunk(Task* task);

// Notes that the function with the frame at `address` calls the task's code. Null: the code has returned.
inline void set_exit_frame(ompt::Frame* frame, void* address) {
  frame->exit_frame.ptr = address;
  frame->exit_frame_flags = address != nullptr ? ompt::kFrameRuntime | ompt::kFramePointer : 0;
}

// Notes that a function of the program runs the task's code in line, in the function's own frame.
inline void set_exit_in_program(ompt::Frame* frame, void* address) {
  frame->exit_frame.ptr = address;
  frame->exit_frame_flags = ompt::kFrameApplication | ompt::kFramePointer;
}

inline void set_enter_frame(ompt::Frame* frame, const void* address) {
  frame->enter_frame.ptr = const_cast<void*>(address);
  frame->enter_frame_flags = address != nullptr ? ompt::kFrameRuntime | ompt::kFrameStackAddress : 0;
}

// Notes that the task has entered the runtime through the calling function, or through a function that this is inlined
// into.
[[gnu::noinline]] void note_entry(Task* task);

// Notes that the program runs another task's code in line, in a function of the program with the frame at `address`.
inline void set_program_frame(ompt::Frame* frame, void* address) {
  frame->enter_frame.ptr = address;
  frame->enter_frame_flags = ompt::kFrameApplication | ompt::kFramePointer;
}

// The frame of the program's function that called a function of the runtime, from the frame address of the latter.
inline void* frame_of_caller(void* frame_address) { return *static_cast<void**>(frame_address); }

// For a function that is itself not inlined: an address in its caller's frame.
[[gnu::always_inline]] inline void* in_callers_frame() { return __builtin_dwarf_cfa(); }

// Calls `function(arguments...)`, the code of `task`, from a frame of its own. A tool is there.
template <class F, class... Arguments>
[[gnu::noinline]] void call_with_frame(Task* task, F function, Arguments... arguments) {
  set_exit_frame(frame_of(task), __builtin_frame_address(0));
  announce_taskloop_chunk(task);
  tool::debug_task_begin();
  function(arguments...);
  tool::debug_task_end();
  set_exit_frame(frame_of(task), nullptr);
}

// The same without a tool, from the caller's frame.
template <class F, class... Arguments>
[[gnu::always_inline]] inline void call_of(Task* task, F function, Arguments... arguments) {
  if (tool::present()) [[unlikely]] {
    call_with_frame(task, function, arguments...);
  } else {
    function(arguments...);
  }
}

}  // namespace marline
