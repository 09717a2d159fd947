// SPDX-License-Identifier: Apache-2.0
//
// Task dependences (OpenMP 5.2, section 15.9): from locators to edges, and from completions to ready tasks.
#pragma once

#include "sched/team.hpp"

#include <cstddef>

namespace marline {

enum class Access : uint8_t {
  kIn,
  kOut,  // out and inout order alike
  kMutexinoutset,
  kInoutset,
};

// One locator of a depend clause. A null address with kOut is omp_all_memory.
struct Dependence {
  void* address;
  Access access;
};

struct GraphRecord;

// Enters the task's dependences into its parent's table and makes the edges. Cost linear in `count`. The caller runs
// the parent. True: nothing stands before the task, and it holds its exclusions: the caller makes it run. False: the
// last of its predecessors will. The task may run, and end, before this returns false.
[[nodiscard]] bool enter_graph(Worker* worker, Task* task, const Dependence* list, size_t count);

// The same for the producer of a persistent graph: a function of its own, so that enter_graph has one caller, into
// which the compiler puts it.
[[nodiscard]] bool enter_graph_rarely(Worker* worker, Task* task, const Dependence* list, size_t count);

// Enters a task of a persistent graph that this iteration has released already, into a table that is made only now:
// later tasks come after it, it comes after nobody.
void reenter_graph(Worker* worker, GraphRecord* record, Task* task, const Dependence* list, size_t count);

// For taskwait with depend clauses: makes `event` fulfilled when every task has completed that a task with these
// dependences would wait for. False: there is none. tool_data: the waiting task's, as tools know it.
[[nodiscard]] bool enter_wait(Worker* worker, Task* parent, const Dependence* list, size_t count, Event* event,
                              uint64_t tool_data);

// What an undeferred task with a detach clause has in its depend clauses, until its block ends: a slab block; the list
// follows.
struct KeptDependences {
  size_t count;
  Dependence* list() { return reinterpret_cast<Dependence*>(this + 1); }
};

// Null if there are none.
[[nodiscard]] KeptDependences* keep_dependences(Worker* worker, const Dependence* list, size_t count);

// The block of such a task has ended, what stood before it has completed, and its event has not been fulfilled: what is
// entered from now on waits for the task's completion. The caller runs the parent, whose table is its own and of no
// graph.
void enter_completion(Worker* worker, Task* task, KeptDependences* kept);

// A node without a body that completes when every task has that the table knows now; it is in no table, and the caller
// puts it into one, for which it has a reference. Null: all have completed. The caller runs the task whose table it is.
[[nodiscard]] Task* enter_after_all(Worker* worker, DependenceTable* table);

// The task has ended: leaves its exclusions, releases its successors, enqueues those that become ready, except one,
// which it returns to be run next (or null).
[[nodiscard]] Task* release_successors(Worker* worker, Task* task);

// The same for a task that nobody has run, so that release_successors has one caller, too.
[[nodiscard]] Task* release_successors_rarely(Worker* worker, Task* task);

// Frees the edges of a task that has ended.
void drop_edges(Worker* worker, Task* task);

// Forgets the dependences of a task's children: it generates no more. One that it shares with its descendants, it drops
// after them.
void drop_table(Worker* worker, Task* parent);

// marline_depend_share: the tasks that `task` creates from now on enter their children's dependences in its table.
void share_table(Worker* worker, Task* task);

// For a task that is created by one with kSharesTable, before it can run.
void inherit_table(Task* task);

// Whether its descendants may still use its table.
bool shares_own_table(const Task* task);

// A descriptor loses its holder "execution" or its holder "table"; the last one frees it.
// A persistent task's is kept by its graph: free_persistent_task frees it.
void release_task(Worker* worker, Task* task);
void free_persistent_task(Worker* worker, Task* task);
void release_task_from_table(Worker* worker, Task* task);

}  // namespace marline
