// SPDX-License-Identifier: Apache-2.0
//
// mutexinoutset (OpenMP 5.2, section 15.9.5): the tasks of one set exclude each other but are not ordered. Each set has
// an Exclusion. A ready task takes the Exclusions of all its sets in the order of their addresses, and keeps the ones
// it has while it waits for the next. All tasks take them in the same order, so tasks cannot wait for each other in a
// cycle.
#pragma once

#include "base/spin_lock.hpp"
#include "sched/team.hpp"

namespace marline {

struct Exclusion {
  SpinLock lock;  // guards the fields below
  bool held = false;
  TaskFifo waiters;  // tasks that hold every earlier exclusion of their lists
  // One per task and one for the table's entry. No overflow: memory has no room for 2^31 tasks.
  Atomic<int32_t> references{0};
};

// The exclusions of one task. A slab block; the pointers follow it. The creator appends. The thread that makes the task
// ready sorts the list by address, the order in which all tasks take exclusions. Keeping the list sorted while it grows
// would move all of it at each insertion.
struct alignas(Exclusion*) ExclusionList {
  size_t count;
  size_t held;  // how many the task holds, or waits for: the first ones of the list
  size_t capacity;
  bool sorted;  // and without duplicates
  Exclusion** items() { return reinterpret_cast<Exclusion**>(this + 1); }
};

Exclusion* exclusion_create(Worker* worker);
void exclusion_release(Worker* worker, Exclusion* exclusion);

// Adds a set to the task, which may have it already. Creator only.
void exclusion_add(Worker* worker, Task* task, Exclusion* exclusion);

// Releases the task's references to its exclusions; it holds none of them, nor waits for one.
void exclusions_drop(Worker* worker, Task* task);

// Takes the exclusions that the task does not hold yet. False: it waits for one; the thread that leaves that exclusion
// continues with the next one.
[[nodiscard]] bool exclusions_take(Task* task);

// The task has ended: leaves its exclusions. A persistent task keeps its list for its next run. Tasks that now hold all
// of their exclusions are appended to `ready`.
void exclusions_leave(Worker* worker, Task* task, TaskFifo& ready);

}  // namespace marline
