// SPDX-License-Identifier: Apache-2.0
//
// Dependences across transparent tasks (OpenMP 6.0, sections 17.9.5 and 17.9.6). A scope belongs to the dependence
// table of a transparent task, or of a task that has created one. A transparent task T imports: its table begins as a
// copy of its parent's table at T's creation, so T's children are ordered after T's earlier siblings. T exports: when
// its body has ended, its table is put into a list of its parent's scope. A later sibling of T, or a child of a later
// transparent sibling, looks into the tables of this list at two times: at its creation, and when its predecessors have
// completed (its gate). Only then all bodies that it is ordered after have ended, so their tables are complete.
//
// The scopes of a tree of transparent tasks share the lock of the root. It guards the tables, the scopes, and the graph
// fields of all tasks in the tables. A table is in the list until the task's subtree has ended.
//
// Every edge goes from an earlier to a later task in the order in which one thread would create the tasks, so there is
// no circle: a copy has only siblings created before T, and a list is read only up to the reader's own position.
#pragma once

#include "base/spin_lock.hpp"
#include "graph/dependence.hpp"
#include "sched/team.hpp"

#include <cstddef>
#include <cstdint>

namespace marline {

struct Linking;

struct TransparentScope {
  DependenceTable* table;
  TransparentScope* root;    // itself, if the task is not transparent
  TransparentScope* outer;   // of the task's parent; null in the root
  uint64_t position;         // of the task among the parent's tasks with dependences
  uint64_t last_position;    // that has been given to a child
  TransparentScope* newest;  // of the children that have exported; linked by `older` and `newer`
  TransparentScope *older, *newer;
  bool exports;  // in the list of `outer`
  // In the root only:
  uint64_t living;  // transparent tasks with a subtree that has not ended
  SpinLock lock;

  // An address for which the bodies of the task's transparent children are ordered: see link_across_scopes. Only in
  // this scope's table, since the address may belong to another scope later.
  void* bodies() { return this; }
};

// What a task or a taskwait needs to look into exported tables when its predecessors have completed. A slab block; the
// list follows it. Owned by the task; freed by open_gate.
struct Gate {
  TransparentScope* scope;
  uint64_t position;
  bool holds_task;  // not the node of a wait
  size_t count;
  Dependence* list() { return reinterpret_cast<Dependence*>(this + 1); }
};

// How tasks are ordered by their accesses (graph/dependences.cpp).
struct TableAccess {
  using Function = void (*)(Linking& linking, DependenceTable* table, const Dependence& dependence);
  Function look_at;  // makes edges only
  Function enter;    // also enters the task; null for a wait
};

// Called by the thread that runs the parent of `task`, a transparent task, before the task is entered into a table.
void open_scope(Worker* worker, Task* task);

// The body of `task`, a transparent task, has ended, on this thread.
void export_scope(Task* task);

// Drops the table of a task whose subtree has ended.
void close_scope(Worker* worker, DependenceTable* table);

// The last step of entering a task or a wait into a table with a scope, under the scope's lock.
void link_across_scopes(Linking& linking, DependenceTable* table, const Dependence* list, size_t count,
                        TableAccess access);

// The predecessors of a task with kGated have completed. True: no exported task is left to wait for, and the gate is
// open. False: the task waits for further predecessors.
[[nodiscard]] bool pass_gate(Worker* worker, Task* task, TableAccess::Function look_at);

// Removes the gate. The caller is the only one who knows the task.
void open_gate(Worker* worker, Task* task);

}  // namespace marline
