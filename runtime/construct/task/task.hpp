// SPDX-License-Identifier: Apache-2.0
//
// The task construct (OpenMP 5.2, section 12.5) and its relatives: taskwait, taskyield, taskgroup, detach. Both faces
// build on these.
//
// Life of a task here: allocate_task -> the face fills task->block -> spawn_task. The current task is the parent.
#pragma once

#include "exec/worker/throttle.hpp"
#include "graph/dependences.hpp"
#include "graph/lineage.hpp"
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
[[gnu::always_inline]] inline Task* allocate_with_room(Worker* worker, const TaskShape& shape, size_t dependences,
                                                       size_t more) {
  auto round_up = [](uintptr_t value, uintptr_t alignment) { return (value + alignment - 1) & ~(alignment - 1); };
  size_t slack = shape.block_align > kCacheLine ? shape.block_align : 0;
  size_t room = dependences < kInlineEdges ? dependences : kInlineEdges;
  size_t block_end = round_up(sizeof(Task) + slack + shape.block_bytes, alignof(Edge*));
  size_t bytes = block_end + room * kEdgeBytes + more;
  if (bytes < sizeof(Task)) __builtin_unreachable();  // so that the allocation does not check for 0 bytes
  if (bytes > SlabPool::kClassLimit) [[unlikely]] {
    throttle_soon(worker);
  }
  auto* task = static_cast<Task*>(worker->pool->allocate(bytes));
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

// For a worker with a record for the next task (construct/task/next_task.hpp), where priorities propagate, and in a
// persistent graph. The function may change `shape`: a copy of a copy, by wider loads than the stores before it, would
// wait for the stores.
[[gnu::noinline]] Task* allocate_announced(Worker* worker, TaskShape& shape);

// Allocates a task. Takes the name and reserves room for the dependences that calls have set before
// (construct/task/next_task.hpp).
[[gnu::always_inline]] inline Task* allocate_task(Worker* worker, const TaskShape& shape) {
  if (worker->next_task != nullptr || options().task_tail_bytes != 0 || worker->task->has(task_flag::kInGraph))
      [[unlikely]] {
    TaskShape copy = shape;  // the address of `shape` is never taken
    return allocate_announced(worker, copy);
  }
  return allocate_with_room(worker, shape, shape.dependences, 0);
}

// The same, if is_simple() is true.
[[gnu::always_inline]] inline Task* allocate_simple(Worker* worker, const TaskShape& shape) {
  return allocate_with_room(worker, shape, 0, 0);
}

// For construct/task/persistent.cpp: the same without a check for graphs.
Task* allocate_ordinary_task(Worker* worker, const TaskShape& shape);

// Creates a child of the current task, without code or dependences, that represents work of a library: it is claimed
// (observed.hpp), and in no graph. No tool is notified of it.
Task* create_claimed_task(Worker* worker);
// Begins the next run of a task in a descriptor that allocate_ordinary_task returned. The block keeps its content.
void begin_another_life(Worker* worker, Task* task, const TaskShape& shape);

// Makes the task a child of the current one, with its dependences (and the ones that calls have set before), and lets
// it run: it is queued, or runs at once if the standard or the load says so (final parent, enough tasks queued). A task
// that suspends never holds its creator, unless it is undeferred. `codeptr`: return address into the program, for
// tools.
void spawn_task(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr);

// The same for a task without dependences, if is_simple() is true.
void spawn_simple(Worker* worker, Task* task, const void* codeptr);

// Whether the current task can create deferred tasks without clauses by the fast path: it is neither final nor shares
// its table nor is in a graph, the worker has no record for the next task, and no option orders tasks.
inline bool is_simple(const Worker* worker) {
  return worker->next_task == nullptr && options().simple_creation &&
         !worker->task->has(task_flag::kFinal | task_flag::kSharesTable | task_flag::kInGraph);
}

// Spawns a task without a body: it only orders other tasks by its dependences.
void spawn_empty_task(Worker* worker, const Dependence* list, size_t count, const void* codeptr);

// An undeferred task with a body that the compiler calls in line (KMP's if(0)): between the two calls the current task
// is `task`. Its dependences must have been waited for (taskwait_depend); with kDetach, Task::kept has them.
void begin_undeferred(Worker* worker, Task* task, const void* codeptr);

// The same if the face calls the body itself. False: the task is cancelled (exec/worker/cancellation.hpp), and has
// ended.
[[nodiscard]] bool try_begin_undeferred(Worker* worker, Task* task, const void* codeptr);

void end_undeferred(Task* task);

// Runs an included or undeferred task of a face, from spawn to completion, before it returns.
void run_undeferred(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr);

// The event that a task with kDetach waits for; its address is the omp_event_handle_t.
inline Event* detach_event(Task* task) { return &task->event; }

void taskwait(Worker* worker, const void* codeptr);

// taskwait with depend clauses: waits for the predecessors that a task with these dependences would have.
void taskwait_depend(Worker* worker, const Dependence* list, size_t count, const void* codeptr);

void taskyield(Worker* worker);

// Regions nest; the end waits for all tasks generated inside, and their descendants. is_construct: the program has
// written the construct, and `cancel taskgroup` in its tasks cancels it. Otherwise (reduction(task, ...)) `cancel
// taskgroup` cancels the next construct around it.
void taskgroup_begin(Worker* worker, const void* codeptr, bool is_construct = true);
void taskgroup_end(Worker* worker, const void* codeptr);

// For construct/task/persistent.cpp: a group in the caller's memory rather than taskgroup_begin's, and the wait for its
// members.
void taskgroup_init(Taskgroup* group, Task* owner, Taskgroup* outer, bool is_construct);
void taskgroup_wait(Task* owner, Taskgroup* group);

// Whether the current task is included/final (omp_in_final).
bool in_final(const Worker* worker);

}  // namespace marline
