// SPDX-License-Identifier: Apache-2.0
//
// The task construct (OpenMP 5.2, section 12.5) and its relatives: taskwait, taskyield, taskgroup, detach. Both faces
// build on these.
//
// Life of a task here: allocate_task -> the face fills task->block -> spawn_task. The current task is the parent.
#pragma once

#include "graph/dependences.hpp"
#include "sched/team.hpp"

namespace marline {

// What kind of task it is: the same for all that one construct generates.
struct TaskShape {
  void (*invoke)(Task*);    // called once to run it
  const void* code;         // the compiler's function for the body: tells one construct's tasks from another's
  uint32_t flags;           // task_flag bits kTied, kFinal (also set if the parent is final), kDetach, kMergeable, kObjects
  size_t block_bytes = 0;   // of the face's block, behind the descriptor
  size_t block_align = 0;   // a power of two up to 4096; 0: 64
  size_t dependences = 0;   // room for so many in-line edges
};

// What was said of it beforehand (construct/next_task.hpp): its name moves to it, its dependences get room.
Task* allocate_task(Worker* worker, const TaskShape& shape);

// For construct/persistent.cpp: the same without a look at graphs; and for a descriptor that such a call returned, the
// beginning of its task's next run. The block stays as it is.
Task* allocate_ordinary_task(Worker* worker, const TaskShape& shape);
void begin_another_life(Worker* worker, Task* task, const TaskShape& shape);

// Makes the task a child of the current one, with its dependences (and those said beforehand), and lets it run: queued,
// or run at once where the
// standard or the load says so (final parent, plenty queued); in any case a task that suspends does not hold its creator
// unless it is undeferred. `codeptr`: return address into the program, for tools.
void spawn_task(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr);

// An undeferred task whose body the compiler calls in line (KMP's if(0)): between the two calls the current task is
// `task`. Its dependences must have been waited for (taskwait_depend).
void begin_undeferred(Worker* worker, Task* task, const void* codeptr);

// The same where the face calls the body itself. False: the task is cancelled (exec/cancellation.hpp), and over.
[[nodiscard]] bool try_begin_undeferred(Worker* worker, Task* task, const void* codeptr);

void end_undeferred(Task* task);

// Runs a task of the face's that is included or undeferred, from spawn to completion, before it returns.
void run_undeferred(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr);

// The event that a task with kDetach waits for; its address is the omp_event_handle_t.
inline Event* detach_event(Task* task) { return &task->event; }

void taskwait(Worker* worker, const void* codeptr);

// taskwait with depend clauses: waits for the predecessors that a task with these dependences would have.
void taskwait_depend(Worker* worker, const Dependence* list, size_t count, const void* codeptr);

void taskyield(Worker* worker);

// Regions nest; the end waits for all tasks generated inside, and their descendants.
void taskgroup_begin(Worker* worker, const void* codeptr);
void taskgroup_end(Worker* worker, const void* codeptr);

// For construct/persistent.cpp: a group that lies in other memory than taskgroup_begin's, and the wait for its members.
void taskgroup_init(Taskgroup* group, Task* owner, Taskgroup* outer, bool is_construct);
void taskgroup_wait(Task* owner, Taskgroup* group);

// Whether the current task is included/final (omp_in_final).
bool in_final(const Worker* worker);

}  // namespace marline
