// SPDX-License-Identifier: Apache-2.0
//
// What is known of a task: its ancestors, its code and its frames (OpenMP 5.2, sections 20.5.7 and 20.5.10).
#include "space.hpp"

namespace marline::ompd {

namespace {

bool is_implicit(Reader& in, uint64_t task) {
  return (in.word(task, in.layout().task.flags) & in.layout().task.implicit) != 0;
}

// The ToolTail of an explicit task (runtime/exec/worker/frames.hpp). It is not looked for in a block of a size of its
// own, which has more than 16 KiB of private data.
uint64_t tail_of(Reader& in, uint64_t task) {
  const OmpdLayout& layout = in.layout();
  const uint64_t base = task / layout.slab.bytes * layout.slab.bytes;
  const uint64_t header = base + base / layout.slab.bytes % layout.slab.colours * layout.slab.line;
  const uint64_t size_class = in.word(header, layout.slab.size_class);
  const uint64_t bytes = in.word(layout.options, layout.option.tail_bytes);
  if (size_class >= OmpdLayout::kSizeClasses || bytes == 0) in.fail(Rc::kUnavailable);
  return in.rc() == Rc::kOk ? task + layout.slab.class_bytes[size_class] - bytes : 0;
}

// The task that was interrupted for this one: the task beneath it on its fiber, else the task that waits for its fiber,
// else the implicit task of the innermost region. A region interrupts the task that opened it.
Task interrupted(Reader& in, const Task& from) {
  const OmpdLayout& layout = in.layout();
  if (is_implicit(in, from.task)) {
    const uint64_t member = in.word(from.task, layout.task.block);
    const bool primary = in.number(member, layout.member.index) == 0;
    const uint64_t around = in.word(member, layout.member.next_membership);
    return {from.space, in.word(from.task, layout.task.parent), primary ? from.fiber : 0, primary ? around : 0};
  }
  if (const uint64_t beneath = in.word(tail_of(in, from.task), layout.tail.beneath)) {
    return {from.space, beneath, from.fiber, from.around};
  }
  const uint64_t fiber = from.fiber != 0 ? from.fiber : in.word(from.task, layout.task.fiber);
  const uint64_t caller = fiber != 0 ? in.word(fiber, layout.fiber.caller) : 0;
  if (caller != 0) {
    if (const uint64_t waiting = in.word(caller, layout.fiber.task)) return {from.space, waiting, caller, from.around};
  }
  return {from.space, from.around != 0 ? from.around + layout.member.implicit_task.at : 0, 0, from.around};
}

struct Frames {
  OmpdField exit_frame, enter_frame, exit_flags, enter_flags;
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Rc ompd_get_generating_task_handle(const Task* task, Task** handle) {
  if (task == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*task->space);
  const uint64_t parent = in.word(task->task, in.layout().task.parent);
  if (parent == 0) in.fail(Rc::kUnavailable);
  return in.rc() == Rc::kOk ? hand_out(Task{task->space, parent, 0, 0}, handle) : in.rc();
}

Rc ompd_get_scheduling_task_handle(const Task* task, Task** handle) {
  if (task == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*task->space);
  const Task found = interrupted(in, *task);
  if (found.task == 0) in.fail(Rc::kUnavailable);
  return in.rc() == Rc::kOk ? hand_out(found, handle) : in.rc();
}

// An initial task has no function: its code is the program's around all regions.
Rc ompd_get_task_function(const Task* task, Address* entry) {
  if (task == nullptr) return Rc::kStaleHandle;
  if (entry == nullptr) return Rc::kBadInput;
  Reader in(*task->space);
  const OmpdLayout& layout = in.layout();
  uint64_t code = 0;
  if (!is_implicit(in, task->task)) {
    code = in.word(tail_of(in, task->task), layout.tail.code);
  } else if (const uint64_t team = in.word(task->task, layout.task.team); in.number(team, layout.team.level) > 0) {
    code = in.word(team, layout.team.microtask);
  }
  if (code == 0) in.fail(Rc::kUnavailable);
  *entry = {0, code};
  return in.rc();
}

Rc ompd_get_task_frame(const Task* task, FrameInfo* exit_frame, FrameInfo* enter_frame) {
  if (task == nullptr) return Rc::kStaleHandle;
  if (exit_frame == nullptr || enter_frame == nullptr) return Rc::kBadInput;
  Reader in(*task->space);
  const auto& member = in.layout().member;
  const auto& tail = in.layout().tail;
  const bool implicit = is_implicit(in, task->task);
  const uint64_t at = implicit ? in.word(task->task, in.layout().task.block) : tail_of(in, task->task);
  const Frames of_member{member.exit_frame, member.enter_frame, member.exit_flags, member.enter_flags};
  const Frames of_tail{tail.exit_frame, tail.enter_frame, tail.exit_flags, tail.enter_flags};
  const Frames& frames = implicit ? of_member : of_tail;
  *exit_frame = {{0, in.word(at, frames.exit_frame)}, in.number(at, frames.exit_flags)};
  *enter_frame = {{0, in.word(at, frames.enter_frame)}, in.number(at, frames.enter_flags)};
  return in.rc();
}

// The word that a performance tool keeps for a thread, a region or a task.
Rc ompd_get_tool_data(void* handle, Scope scope, Word* value, Address* pointer) {
  if (handle == nullptr) return Rc::kStaleHandle;
  if (value == nullptr || pointer == nullptr) return Rc::kBadInput;
  const Space* space = nullptr;
  uint64_t at = 0;
  OmpdField field{};
  if (scope == Scope::kThread) {
    const auto* thread = static_cast<const Thread*>(handle);
    space = thread->space, at = thread->worker, field = space->layout.worker.data;
  } else if (scope == Scope::kParallel) {
    const auto* parallel = static_cast<const Parallel*>(handle);
    space = parallel->space, at = parallel->team, field = space->layout.team.data;
  } else if (scope == Scope::kTask || scope == Scope::kImplicitTask) {
    const auto* task = static_cast<const Task*>(handle);
    space = task->space, at = task->task, field = space->layout.task.data;
  } else {
    return Rc::kUnsupported;  // a process has no such word
  }
  Reader in(*space);
  *value = in.number(at, field);
  *pointer = {0, static_cast<uint64_t>(*value)};
  return in.rc();
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::ompd
