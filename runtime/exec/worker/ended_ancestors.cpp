// SPDX-License-Identifier: Apache-2.0
//
// Shortens the line of ended ancestors above a task. An ended task with one living child, a *link*, is needed only by
// that child, which reaches its grandparent through it. The child removes it in one of two ways:
//
//   at its own end   The child still has its `parent` for itself, so it needs no lock. Most chains need no more.
//   later            A task may become a link after its child has ended, when a sibling of the child ends. Then a task
//                    below the child removes the link in a sweep: a walk up to the first ancestor that has not ended.
//                    Under g_sweep_lock, so that one thread at a time changes the `parent` of ended tasks.
//
// Why a sweep is safe: every task on the walk has the sweeper's task below it, which is alive, so no other thread can
// release one of them meanwhile. A task that removes links at its own end has not ended, so the walk stops there.
//
// Sweeps are as rare as they are long: after a sweep that has left n tasks in the line, this worker begins the next one
// when about n further tasks have ended below an ended one. So the number of descriptors that wait for a sweep follows
// the number of living tasks, and the steps of all sweeps follow the number of tasks.
#include "exec/worker/ended_ancestors.hpp"

#include "graph/descriptor.hpp"

namespace marline {

namespace {

constexpr uint32_t kLeastBetweenSweeps = 64;

// Flags of tasks with descriptors that other threads may read on the way to an ancestor: where tasks share a table
// (graph/dependences.cpp), and in iterations of a persistent graph. An implicit task has not ended.
constexpr uint32_t kReadByOthers =
    task_flag::kImplicit | task_flag::kPersistent | task_flag::kInGraph | task_flag::kSharesTable;

// acquire pairs with the end of the task and of its children (completion.cpp): what they did with the descriptor
// happens before it is released, and its flags change no more.
uint64_t children_of(const Task* task) { return task->children.load(acquire); }

bool has_ended(const Task* task) {
  return (children_of(task) & children_word::kWaitingForSubtree) != 0 && !task->has(kReadByOthers);
}

// A descendant may have inherited the control variables that a task has set for itself.
bool is_link(const Task* task) {
  using namespace children_word;
  return children_of(task) == (kAlive | kWaitingForSubtree) && !task->has(kReadByOthers | task_flag::kOwnIcvs);
}

void remove_links_above(Worker* worker, Task* task) {
  for (Task* parent = task->parent; is_link(parent); parent = task->parent) {
    task->parent = parent->parent;
    release_task(worker, parent);
  }
}

// Random, so that the chain that a sweep falls on does not depend on the order in which several chains take turns.
uint32_t until_next_sweep(Worker* worker, uint32_t left) {
  worker->sweep.random = worker->sweep.random * 1664525u + 1013904223u;
  const uint64_t between = kLeastBetweenSweeps + uint64_t{left};
  return static_cast<uint32_t>(between / 2 + (worker->sweep.random >> 8) % between);
}

void sweep(Worker* worker, Task* task) {
  if (!g_sweep_lock.try_lock()) return;
  uint32_t left = 0;
  for (task = task->parent; has_ended(task); task = task->parent) {
    remove_links_above(worker, task);
    ++left;
  }
  g_sweep_lock.unlock();
  worker->sweep.left = until_next_sweep(worker, left);
}

}  // namespace

SpinLock g_sweep_lock;  // taken by try_lock, except for a fork: a thread that finds it held sweeps later

void shed_ended_ancestors(Worker* worker, Task* task) {
  remove_links_above(worker, task);
  if (!has_ended(task->parent)) return;
  if (worker->sweep.left > 0) {
    --worker->sweep.left;
  } else {
    sweep(worker, task);
  }
}

}  // namespace marline
