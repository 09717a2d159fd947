// SPDX-License-Identifier: Apache-2.0
//
// Exclusion among the tasks of a mutexinoutset: see the header. Any thread that readies or completes such a task.
#include "graph/exclusion.hpp"

#include <algorithm>
#include <new>

namespace marline {

namespace {

constexpr uint16_t kFirstCapacity = 8;

// Exclusion pointers live in a slab block whose capacity is the smallest power of two that holds them.
uint16_t capacity_for(uint16_t count) {
  uint16_t capacity = kFirstCapacity;
  while (capacity < count) capacity = static_cast<uint16_t>(capacity * 2);
  return capacity;
}

void reserve_one(Worker* worker, Task* task) {
  uint16_t count = task->exclusion_count;
  if (count != 0 && count < capacity_for(count)) return;
  auto capacity = static_cast<size_t>(count == 0 ? kFirstCapacity : capacity_for(count) * 2);
  auto** wider = static_cast<Exclusion**>(worker->pool->allocate(capacity * sizeof(Exclusion*)));
  std::copy_n(task->exclusions, count, wider);
  if (count != 0) SlabPool::release(task->exclusions, worker->pool);
  task->exclusions = wider;
}

// True: the task now holds it. False: it waits in its queue.
bool take_one(Exclusion* exclusion, Task* task) {
  Guard<SpinLock> guard(exclusion->lock);
  if (!exclusion->held) return exclusion->held = true;
  exclusion->waiters.push_back(task);
  return false;
}

// Leaves it; the task that it is handed to, or null.
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
  if (exclusion->references.fetch_sub(1, acq_rel) == 1) SlabPool::release(exclusion, worker->pool);
}

void exclusion_add(Worker* worker, Task* task, Exclusion* exclusion) {
  Exclusion** begin = task->exclusions;
  Exclusion** end = begin + task->exclusion_count;
  if (task->exclusion_count != 0 && std::find(begin, end, exclusion) != end) return;
  reserve_one(worker, task);
  exclusion->references.fetch_add(1, relaxed);
  // Kept sorted by address: the order in which all tasks take them.
  begin = task->exclusions;
  end = begin + task->exclusion_count;
  Exclusion** at = std::lower_bound(begin, end, exclusion);
  std::copy_backward(at, end, end + 1);
  *at = exclusion;
  ++task->exclusion_count;
}

bool exclusions_take(Task* task) {
  while (task->exclusions_held < task->exclusion_count) {
    // Counted first: the moment it is in a queue, another thread may hand it over and go on from here.
    Exclusion* next = task->exclusions[task->exclusions_held++];
    if (!take_one(next, task)) return false;
  }
  return true;
}

void exclusions_leave(Worker* worker, Task* task, TaskFifo& ready) {
  for (uint16_t i = 0; i < task->exclusion_count; ++i) {
    Exclusion* exclusion = task->exclusions[i];
    Task* next = leave_one(exclusion);
    if (next != nullptr && exclusions_take(next)) ready.push_back(next);
    exclusion_release(worker, exclusion);
  }
  if (task->exclusion_count != 0) SlabPool::release(task->exclusions, worker->pool);
  task->exclusion_count = 0;
}

}  // namespace marline
