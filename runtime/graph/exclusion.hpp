// SPDX-License-Identifier: Apache-2.0
//
// mutexinoutset (OpenMP 5.2, section 15.9.5): the tasks of one set exclude each other but are not ordered. Each set has
// an Exclusion; a ready task takes the Exclusions of all its sets, in the order of their addresses, and keeps those
// that it has while it waits for the next. Since all tasks take them in the same order, tasks cannot wait for each
// other in a cycle.
#pragma once

#include "base/spin_lock.hpp"
#include "sched/team.hpp"

namespace marline {

struct Exclusion {
  SpinLock lock;  // the fields below
  bool held = false;
  TaskFifo waiters;               // tasks that have everything before it
  Atomic<int32_t> references{0};  // tasks, of which memory has no room for 2^31, + the table's entry
};

// The exclusions of one task. A slab block; the pointers follow. The creator appends to it. Whoever readies the task
// sorts it by address, the order in which all tasks take them: to keep it sorted while it grows would move all of it
// each time.
struct alignas(Exclusion*) ExclusionList {
  size_t count;
  size_t held;  // the first so many
  size_t capacity;
  bool sorted;  // and none is there twice
  Exclusion** items() { return reinterpret_cast<Exclusion**>(this + 1); }
};

Exclusion* exclusion_create(Worker* worker);
void exclusion_release(Worker* worker, Exclusion* exclusion);

// Adds a set to the task, which may have it already. Creator only.
void exclusion_add(Worker* worker, Task* task, Exclusion* exclusion);

// Gives up the task's sets, none of which it holds or waits for.
void exclusions_drop(Worker* worker, Task* task);

// Takes the exclusions that the task does not hold yet. False: it waits for one, and whoever leaves that one goes on.
[[nodiscard]] bool exclusions_take(Task* task);

// The task has ended: leaves its exclusions; a persistent one keeps its list for the next time. Tasks that thereby got
// all of theirs are appended to `ready`.
void exclusions_leave(Worker* worker, Task* task, TaskFifo& ready);

}  // namespace marline
