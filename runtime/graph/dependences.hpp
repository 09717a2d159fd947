// SPDX-License-Identifier: Apache-2.0
//
// Task dependences (OpenMP 5.2, section 15.9): makes edges from locators, and ready tasks from completions.
#pragma once

#include "graph/dependence.hpp"
#include "sched/team.hpp"

#include <cstddef>

namespace marline {

struct Claiming;  // graph/linking.hpp
struct GraphRecord;

// Enters the task's dependences into its parent's table and makes the edges. The cost is linear in `count`. The caller
// is the thread that runs the parent. True: the task has no unfinished predecessor and holds its exclusions, and the
// caller makes it run. False: the thread that completes the last predecessor makes it run, perhaps before this function
// returns.
[[nodiscard]] bool enter_graph(Worker* worker, Task* task, const Dependence* list, size_t count);

// The same for the producer of a persistent graph. It is a function of its own so that enter_graph has one caller, into
// which the compiler inlines it.
[[nodiscard]] bool enter_graph_rarely(Worker* worker, Task* task, const Dependence* list, size_t count);

// The same for a target task that a library has claimed (graph/claims.hpp); it cannot run before release_claim.
void enter_graph_claimed(Worker* worker, Task* task, const Dependence* list, size_t count, Claiming& claiming);

// Enters a task of a persistent graph that this iteration has released already, into a table that is created only now:
// later tasks are ordered after it, and it waits for no task.
void reenter_graph(Worker* worker, GraphRecord* record, Task* task, const Dependence* list, size_t count);

// For taskwait with depend clauses: `event` is fulfilled when every task has completed that a task with these
// dependences would wait for. False: there is no such task. tool_data: the value by which tools know the waiting task.
[[nodiscard]] bool enter_wait(Worker* worker, Task* parent, const Dependence* list, size_t count, Event* event,
                              uint64_t tool_data);

// The dependences of an undeferred task with a detach clause, kept until its block ends. A slab block; the list follows
// it.
struct KeptDependences {
  size_t count;
  Dependence* list() { return reinterpret_cast<Dependence*>(this + 1); }
};

// Null if there are none.
[[nodiscard]] KeptDependences* keep_dependences(Worker* worker, const Dependence* list, size_t count);

// For a task with KeptDependences: its block has ended, its predecessors have completed, and its event has not been
// fulfilled. Tasks entered from now on wait for the task's completion. The caller is the thread that runs the parent;
// the parent's table is neither shared by producers nor of a persistent graph.
void enter_completion(Worker* worker, Task* task, KeptDependences* kept);

// Called when the task has ended. Leaves its exclusions, releases its successors, and enqueues the successors that
// become ready, except one, which it returns to be run next. Null: none became ready.
[[nodiscard]] Task* release_successors(Worker* worker, Task* task);

// The same for a task that has not been run. It is a function of its own so that release_successors has one caller,
// too.
[[nodiscard]] Task* release_successors_rarely(Worker* worker, Task* task);

// Drops the table of a task that generates no more children. A task that shares its table with its descendants drops it
// after their end.
void drop_table(Worker* worker, Task* parent);

// marline_depend_share: the tasks that `task` creates from now on enter their children's dependences in the table of
// `task`.
void share_table(Worker* worker, Task* task);

// Called for a child of a task with kSharesTable, before the child can run. If the task has the scope of transparent
// tasks, the child does not use its table.
void inherit_table(Task* task);

// Whether the task has the scope of transparent tasks (graph/transparent_scope.hpp).
bool has_scope(const Task* task);

// Whether the task's descendants may still use its table.
bool shares_own_table(const Task* task);

}  // namespace marline
