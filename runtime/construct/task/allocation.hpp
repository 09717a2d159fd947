// SPDX-License-Identifier: Apache-2.0
//
// Allocating the descriptor of a task, and making it a child of the current task.
#pragma once

#include "exec/worker/cancellation.hpp"
#include "exec/worker/throttle.hpp"
#include "sched/team.hpp"

namespace marline {

// The kind of a task: the same for all tasks that one construct generates.
struct TaskShape {
  void (*invoke)(Task*);  // called once to run it
  const void* code;       // the compiler's function for the body: identifies the construct
  // Bits of task_flag: kTied, kFinal (also set if the parent is final), kDetach, kMergeable, kObjects.
  uint32_t flags;
  size_t block_bytes = 0;  // of the face's block, after the descriptor
  size_t block_align = 0;  // a power of two up to 4096; 0: 64
  size_t dependences = 0;  // number of in-line edges to have room for
};

inline constexpr size_t kInlineEdges = 4096;  // largest number of edges that a descriptor has room for

// Sets the fields with which a task starts, in a new descriptor or a persistent one.
[[gnu::always_inline]] inline void begin_life(Worker* worker, Task* task, const TaskShape& shape) {
  Task* parent = worker->task;
  task->parent = parent;
  task->team = parent->team;
  task->fiber = nullptr;
  task->flags = shape.flags | (parent->flags & task_flag::kFinal);
  task->priority.store(0, relaxed);
  task->children.store(0, relaxed);
  task->created = 0;
  task->table = nullptr;
  task->icvs = parent->icvs;
  if (shape.flags & task_flag::kDetach) task->event.reset_detach();
  if (tool::g_enabled != 0) [[unlikely]] {
    task->tool_data = 0;
  }
}

// `dependences`: the number of in-line edges to have room for; `more`: additional bytes after them. In line, because a
// face knows most of a shape at compile time.
//
// With `quick`: null if the memory is not at hand.
template <bool quick = false>
[[gnu::always_inline]] inline Task* allocate_with_room(Worker* worker, const TaskShape& shape, size_t dependences,
                                                       size_t more) {
  auto round_up = [](uintptr_t value, uintptr_t alignment) { return (value + alignment - 1) & ~(alignment - 1); };
  size_t slack = shape.block_align > kCacheLine ? shape.block_align : 0;
  size_t room = dependences < kInlineEdges ? dependences : kInlineEdges;
  size_t block_end = round_up(sizeof(Task) + slack + shape.block_bytes, alignof(Edge*));
  size_t bytes = block_end + room * kEdgeBytes + more;
  if (bytes < sizeof(Task)) __builtin_unreachable();  // so that the allocation does not check for 0 bytes
  if (!quick && bytes > SlabPool::kClassLimit) [[unlikely]] {
    throttle_soon(worker);
  }
  auto* task = static_cast<Task*>(quick ? worker->pool->allocate_quickly(bytes) : worker->pool->allocate(bytes));
  if (quick && task == nullptr) [[unlikely]] {
    return nullptr;
  }
  task->invoke = shape.invoke;
  auto block = reinterpret_cast<uintptr_t>(task + 1);
  task->block = reinterpret_cast<void*>(slack != 0 ? round_up(block, shape.block_align) : block);
  task->references.store(1, relaxed);
  begin_life(worker, task, shape);
  if (room != 0) {
    task->inline_edges = static_cast<uint16_t>(room);
    task->edges = reinterpret_cast<Edge*>(reinterpret_cast<char*>(task) + block_end);
  }
  return task;
}

// The shape of a task without code.
inline TaskShape empty_shape(size_t dependences) {
  void (*run_nothing)(Task*) = [](Task*) {};
  return {.invoke = run_nothing,
          .code = reinterpret_cast<const void*>(run_nothing),
          .flags = 0,
          .dependences = dependences};
}

// Makes the task a child of the current one.
[[gnu::always_inline]] inline void become_child(Worker* worker, Task* task) {
  Task* parent = worker->task;
  ++parent->created;
  if (Taskgroup* group = parent->taskgroup) {
    if (group->owner == parent) {
      ++group->created;
      task->serial = next_serial(group->order);
    } else {
      task->serial = parent->serial;
      // The parent is counted in the group, so the group cannot end meanwhile.
      group->count.fetch_add(Taskgroup::kOne, relaxed);
    }
  }
  task->taskgroup = parent->taskgroup;
}

// Allocates a task that is in no persistent graph, with room for the dependences that calls have set before.
Task* allocate_ordinary_task(Worker* worker, const TaskShape& shape);

// Begins the next run of a task in a descriptor that allocate_ordinary_task returned. The block keeps its content.
void begin_another_life(Worker* worker, Task* task, const TaskShape& shape);

}  // namespace marline
