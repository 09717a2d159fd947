// SPDX-License-Identifier: Apache-2.0
//
// Ending a task: its end is reported to its successors, its parent and its taskgroup.
//
// Completions are reported to the parent in batches: a worker that completes several children of one parent in a row
// keeps the count (Worker::reports) and flushes it before it does anything other than run a child of the same parent
// in the same taskgroup. No task can notice the delay: a task that waits for a counted child also waits for the running
// one. Nor is there a flush before a new task is called at its creation (call_uncounted): what is counted then are
// siblings or children of its creator, and who waits for them waits for the creator, too.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Completes a task whose body has ended, or that has none. Returns the successor to run next, or null.
[[nodiscard]] Task* complete_task(Worker* worker, Task* task);

// The same for a task that no thread of the runtime has run. What becomes ready is queued, and the parent is told at
// once: the thread may do other work for long. `worker`: the caller's, or null.
void complete_at_once(Worker* worker, Task* task);

// Counts a task in its parent and its group, which had been left for later. Only while the parent's frame waits on this
// thread. (become_child in construct/task/allocation.hpp does it for other tasks when they are created.)
void count_in_creator(const Task* task);

// Reports to the parent the completions that this worker has kept back. Called before the worker idles, suspends, or
// waits.
void flush_reports(Worker* worker);

// The task, which had no children, has ended, and its descriptor is released: keeps its completion back.
inline void report(Worker* worker, Task* parent, Taskgroup* group) {
  constexpr uint64_t kLongestBatch = 1024;  // completions reported at once
  if (worker->reports.parent != parent || worker->reports.group != group) {
    flush_reports(worker);
    worker->reports.parent = parent;
    worker->reports.group = group;
  }
  // Bounded, because a throttled parent counts its unfinished tasks (exec/worker/throttle.cpp).
  if (++worker->reports.count == kLongestBatch) [[unlikely]] {
    flush_reports(worker);
  }
}

// The task's own count of children that have not completed, and whether none of its subtree is left: own thread only.
uint32_t incomplete_children(const Task* task);
inline bool has_no_children(const Task* task) {
  // acquire pairs with report_parent: what the last task of the subtree did is visible to the thread that acts on the
  // subtree's end.
  return task->created == 0 && task->children.load(acquire) == 0;
}
bool subtree_has_ended(const Task* task);

// Whether the task, which has run through where it was created and was not counted, has left its descriptor as it was.
// Not for tasks with a detach clause, nor in persistent graphs.
[[gnu::always_inline]] inline bool leaves_nothing(const Task* task) {
  constexpr uint32_t kMore = task_flag::kGraph | task_flag::kInTable | task_flag::kOwnIcvs | task_flag::kHolds |
                             task_flag::kPinned | task_flag::kSharesTable;
  const uint64_t children = task->created | task->children.load(acquire);  // as in has_no_children
  return !task->has(kMore) && (children | reinterpret_cast<uintptr_t>(task->table)) == 0;
}

}  // namespace marline
