// SPDX-License-Identifier: Apache-2.0
//
// Makes the dependence table of a transparent task's children. Run by the task's creator, before the task may run.
#include "construct/task/transparent.hpp"

#include "base/check.hpp"
#include "graph/table.hpp"

namespace marline {

namespace {

// A child need not wait at this address for tasks that its parent has waited for. If the parent writes there, it comes
// after all earlier tasks. If it reads, other readers may still run, and a child that writes has to wait for them.
void name_address(Worker* worker, DependenceTable* table, const Dependence& named, Task* before) {
  table_reserve(worker, table, 1);
  TableEntry* entry = table_find(worker, table, named.address);
  entry_set_writer(worker, entry, nullptr);
  if (named.access == Access::kOut) {
    entry_clear_members(worker, entry);
  } else if (entry->member_count == 0) {
    entry->kind = Access::kIn;
    entry_add_member(worker, entry, before);
  }
}

}  // namespace

void begin_transparent(Worker* worker, Task* task, const Dependence* list, size_t count) {
  const Task* parent = task->parent;
  if (parent->has(task_flag::kInGraph | task_flag::kSharesTable)) {
    fatal("a transparent task in %s: its children's dependences cannot be ordered there; leave out the clause",
          parent->has(task_flag::kInGraph) ? "an iteration of a persistent graph or a taskgraph"
                                           : "a task that shares its dependences (marline_depend_share)");
  }
  if (parent->table == nullptr) return;
  Task* before = enter_after_all(worker, parent->table);
  if (before == nullptr) return;
  task->table = table_create(worker);
  task->table->all_memory = before;
  // If the list names an address twice, the task is a writer there; so kOut is entered last.
  for (Access access : {Access::kIn, Access::kOut}) {
    for (size_t i = 0; i < count; ++i) {
      if (list[i].access == access && list[i].address != nullptr) name_address(worker, task->table, list[i], before);
    }
  }
}

void end_transparent() { taskwait(this_worker(), nullptr); }

}  // namespace marline
