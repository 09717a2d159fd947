// SPDX-License-Identifier: Apache-2.0
//
// Mutual exclusion of the tasks of a mutexinoutset. Run by any thread that makes such a task ready or completes it.
#include "graph/exclusion.hpp"

#include <algorithm>
#include <new>

namespace marline {

namespace {

constexpr size_t kFirstCapacity = 8;

ExclusionList* reserve_one(Worker* worker, Task* task) {
  ExclusionList* old = task->exclusions;
  if (old != nullptr && old->count < old->capacity) return old;
  size_t capacity = old == nullptr ? kFirstCapacity : old->capacity * 2;
  size_t bytes = sizeof(ExclusionList) + capacity * sizeof(Exclusion*);
  auto* list = new (worker->pool->allocate(bytes)) ExclusionList{0, 0, capacity, true};
  if (old != nullptr) {
    list->count = old->count;
    list->sorted = old->sorted;
    std::copy_n(old->items(), old->count, list->items());
    SlabPool::release(old, worker->pool);
  }
  return task->exclusions = list;
}

void sort(ExclusionList* list) {
  Exclusion** items = list->items();
  std::sort(items, items + list->count);
  size_t kept = 0;
  for (size_t i = 0; i < list->count; ++i) {
    if (kept != 0 && items[kept - 1] == items[i]) {
      items[i]->references.fetch_sub(1, relaxed);  // never the last reference: the list keeps one
    } else {
      items[kept++] = items[i];
    }
  }
  list->count = kept;
  list->sorted = true;
}

// True: the task now holds the exclusion. False: the task waits in its queue.
bool take_one(Exclusion* exclusion, Task* task) {
  Guard<SpinLock> guard(exclusion->lock);
  if (!exclusion->held) return exclusion->held = true;
  exclusion->waiters.push_back(task);
  return false;
}

// Leaves the exclusion; returns the task that now holds it, or null.
Task* leave_one(Exclusion* exclusion) {
  Guard<SpinLock> guard(exclusion->lock);
  Task* next = exclusion->waiters.pop_front();
  if (next == nullptr) exclusion->held = false;
  return next;
}

}  // namespace

Exclusion* exclusion_create(Worker* worker) {
  auto* exclusion = new (worker->pool->allocate(sizeof(Exclusion))) Exclusion;
  exclusion->references.store(1, relaxed);
  return exclusion;
}

void exclusion_release(Worker* worker, Exclusion* exclusion) {
  // acq_rel: the last holder sees all others' uses before it frees.
  if (exclusion->references.fetch_sub(1, acq_rel) == 1) SlabPool::release(exclusion, pool_of(worker));
}

void exclusion_add(Worker* worker, Task* task, Exclusion* exclusion) {
  ExclusionList* list = reserve_one(worker, task);
  if (list->count != 0 && list->items()[list->count - 1] >= exclusion) list->sorted = false;
  exclusion->references.fetch_add(1, relaxed);
  list->items()[list->count++] = exclusion;
}

bool exclusions_take(Task* task) {
  ExclusionList* list = task->exclusions;
  if (list != nullptr && !list->sorted) sort(list);  // no other thread can use the task: it is in no queue yet
  while (list != nullptr && list->held < list->count) {
    // `held` is raised first: once the task is in the queue, another thread may give it the exclusion and continue from
    // here.
    Exclusion* next = list->items()[list->held++];
    if (!take_one(next, task)) return false;
  }
  return true;
}

void exclusions_drop(Worker* worker, Task* task) {
  ExclusionList* list = task->exclusions;
  if (list == nullptr) return;
  for (size_t i = 0; i < list->count; ++i) exclusion_release(worker, list->items()[i]);
  SlabPool::release(list, pool_of(worker));
  task->exclusions = nullptr;
}

void exclusions_leave(Worker* worker, Task* task, TaskFifo& ready) {
  ExclusionList* list = task->exclusions;
  for (size_t i = 0; i < list->count; ++i) {
    Exclusion* exclusion = list->items()[i];
    Task* next = leave_one(exclusion);
    if (next != nullptr && exclusions_take(next)) ready.push_back(next);
  }
  if (task->has(task_flag::kPersistent)) {
    list->held = 0;
  } else {
    exclusions_drop(worker, task);
  }
}

}  // namespace marline
