// SPDX-License-Identifier: Apache-2.0
//
// The task construct (OpenMP 5.2, section 12.5) and its relatives: taskwait, taskyield, taskgroup, detach. Both faces
// build on these.
//
// Life of a task here: allocate_task -> the face fills task->block -> spawn_task. The current task is the parent.
#pragma once

#include "config/options.hpp"
#include "construct/task/allocation.hpp"
#include "exec/fiber/fiber.hpp"
#include "graph/dependences.hpp"
#include "graph/lineage.hpp"
#include "sched/queue.hpp"
#include "sched/team.hpp"

namespace marline {

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

// Makes the task a child of the current one, with its dependences (and the ones that calls have set before), and lets
// it run: it is queued, or runs at once if the standard or the load says so (final parent, enough tasks queued). A task
// that suspends never holds its creator, unless it is undeferred. `codeptr`: return address into the program, for
// tools.
void spawn_task(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr);

// The same for a task without dependences, if is_simple() is true.
void spawn_simple(Worker* worker, Task* task, const void* codeptr);

// The same for one that is to be queued.
void queue_simple(Worker* worker, Task* task, const void* codeptr);

// Whether the current task is neither final nor shares its table nor is in a graph, and the worker has no record for
// the next task.
[[gnu::always_inline]] inline bool is_simple_creator(const Worker* worker) {
  return worker->next_task == nullptr &&
         !worker->task->has(task_flag::kFinal | task_flag::kSharesTable | task_flag::kInGraph);
}

// Whether the current task can create deferred tasks without clauses by the fast path: also, no option orders tasks. So
// it is where no_conditions() is true (base/conditions.hpp), too.
inline bool is_simple(const Worker* worker) { return is_simple_creator(worker) && options().simple_creation; }

// Whether a deferred task that is ready runs at once, on a fiber of its own, because that costs less than queueing it:
// enough tasks are queued already, or no other thread could take the task (the initial thread outside of parallel
// regions).
template <auto plenty>
[[gnu::always_inline]] inline bool runs_at_once(Worker* worker, const Task* task) {
  Member* member = worker->member;
  if (worker->fiber->depth >= kDeepest) return false;
  if (member->team->level == 0) return true;
  return plenty(member, task, options().ready_limit);
}

// How a deferred task without clauses is created where no_conditions() is true. kCall: by call_uncounted
// (exec/fiber/fiber.hpp), on the first idle fiber.
enum class SimpleWay { kSpawn, kQueue, kCall };
[[gnu::always_inline]] inline SimpleWay simple_way(const Worker* worker) {
  Member* member = worker->member;
  if (member->team->level == 0) [[unlikely]] {
    return SimpleWay::kSpawn;
  }
  if (worker->fiber->depth >= kDeepest || !member->deque.holds(options().ready_limit)) return SimpleWay::kQueue;
  return worker->spares.first != nullptr && may_call_uncounted(worker) ? SimpleWay::kCall : SimpleWay::kSpawn;
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

// Tell a tool of a taskgroup region: that it begins, that its end waits, that it has ended.
void announce_group_begin(Task* task, const void* codeptr);
void announce_group_wait(Task* task, const void* codeptr);
void announce_group_end(Task* task, const void* codeptr);

// Whether the current task is included/final (omp_in_final).
bool in_final(const Worker* worker);

}  // namespace marline
