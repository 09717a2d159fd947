// SPDX-License-Identifier: Apache-2.0
//
// Opens and closes the scopes of transparent tasks, and makes edges from the tasks that they have exported.
#include "graph/transparent_scope.hpp"

#include "base/check.hpp"
#include "graph/lineage.hpp"
#include "graph/linking.hpp"
#include "graph/table.hpp"

#include <cstring>
#include <new>

namespace marline {

namespace {

TransparentScope* create_scope(Worker* worker, Task* task, TransparentScope* outer) {
  if (task->table == nullptr) task->table = table_create(worker);
  auto* scope = new (worker->pool->allocate(sizeof(TransparentScope))) TransparentScope{};
  scope->table = task->table;
  scope->root = outer != nullptr ? outer->root : scope;
  scope->outer = outer;
  task->table->scope = scope;
  task->table->sharer = task;
  task->flags |= task_flag::kSharesTable;
  return scope;
}

// Under the lock.
void leave_list(TransparentScope* scope) {
  if (!scope->exports) return;
  (scope->newer != nullptr ? scope->newer->older : scope->outer->newest) = scope->older;
  if (scope->older != nullptr) scope->older->newer = scope->newer;
}

void look_into(Linking& linking, TransparentScope* exported, Gate* gate, TableAccess::Function look_at) {
  look_at(linking, exported->table, {exported->bodies(), Access::kIn});
  for (size_t i = 0; i < gate->count; ++i) look_at(linking, exported->table, gate->list()[i]);
  for (TransparentScope* inner = exported->newest; inner != nullptr; inner = inner->older) {
    look_into(linking, inner, gate, look_at);
  }
}

// Makes edges from the exported tasks that the task with this gate depends on. The cost is linear in the number of
// transparent tasks whose bodies have ended and whose subtrees have not.
void link_exported(Linking& linking, Gate* gate, TableAccess::Function look_at) {
  uint64_t position = gate->position;
  for (TransparentScope* scope = gate->scope; scope != nullptr; position = scope->position, scope = scope->outer) {
    for (TransparentScope* exported = scope->newest; exported != nullptr; exported = exported->older) {
      if (exported->position < position) look_into(linking, exported, gate, look_at);
    }
  }
}

Gate* make_gate(Worker* worker, Task* task, TransparentScope* scope, uint64_t position, const Dependence* list,
                size_t count, bool enters) {
  auto* gate = static_cast<Gate*>(worker->pool->allocate(sizeof(Gate) + count * sizeof(Dependence)));
  *gate = {scope, position, enters, count};
  std::memcpy(gate->list(), list, count * sizeof(Dependence));
  task->gate = gate;
  task->flags |= task_flag::kGated | task_flag::kEmpty;
  return gate;
}

// The scope of a task that is itself transparent and about to be entered; or null.
TransparentScope* own_scope(const Task* task, bool enters) {
  return enters && task->table != nullptr ? task->table->scope : nullptr;
}

}  // namespace

void open_scope(Worker* worker, Task* task) {
  Task* parent = task->parent;
  TransparentScope* outer = parent->table != nullptr ? parent->table->scope : nullptr;
  if (outer == nullptr) outer = create_scope(worker, parent, nullptr);
  Guard<SpinLock> guard(outer->root->lock);
  TransparentScope* scope = create_scope(worker, task, outer);
  scope->position = ++outer->last_position;
  ++outer->root->living;
  table_copy(worker, outer->table, scope->table, outer->bodies());
}

void export_scope(Task* task) {
  TransparentScope* scope = task->table->scope;
  Guard<SpinLock> guard(scope->root->lock);
  if (scope->last_position == 0) return;  // no child has dependences
  scope->exports = true;
  scope->older = scope->outer->newest;
  if (scope->older != nullptr) scope->older->newer = scope;
  scope->outer->newest = scope;
}

void close_scope(Worker* worker, DependenceTable* table) {
  TransparentScope* scope = table->scope;
  {
    Guard<SpinLock> guard(scope->root->lock);
    leave_list(scope);
    if (scope != scope->root) --scope->root->living;
    table_destroy(worker, table);
  }
  SlabPool::release(scope, pool_of(worker));
}

// The bodies of transparent siblings have an order of their own, at the address bodies(). A transparent task without
// depend clauses is a writer there, a chunk of a transparent taskloop without depend clauses is in an inoutset, and a
// transparent task with depend clauses is a reader. The standard does not order later tasks after the first two kinds,
// since they are nobody's predecessors; then nothing would see what they export (transparent-tasks.md). Any other task
// with dependences waits for the last writer, and for the inoutset.
void link_across_scopes(Linking& linking, DependenceTable* table, const Dependence* list, size_t count,
                        TableAccess access) {
  const bool enters = access.enter != nullptr;
  TransparentScope* scope = table->scope;
  TransparentScope* own = own_scope(linking.task, enters);
  const uint64_t position = own != nullptr ? own->position : ++scope->last_position;
  if (scope->root->living == 0) return;
  size_t named = 0;
  for (size_t i = 0; i < count; ++i) named += list[i].address != scope->bodies() ? 1 : 0;
  if (named == count) {
    const Dependence bodies = {scope->bodies(), Access::kIn};
    (own != nullptr ? access.enter : access.look_at)(linking, table, bodies);
  }
  if (named == 0) return;
  Gate* gate = make_gate(linking.worker, linking.task, scope, position, list, count, enters);
  link_exported(linking, gate, access.look_at);
}

bool pass_gate(Worker* worker, Task* task, TableAccess::Function look_at) {
  MARLINE_ASSERT(worker != nullptr);
  Gate* gate = task->gate;
  {
    Guard<SpinLock> guard(gate->scope->root->lock);
    Linking linking(worker, task);
    link_exported(linking, gate, look_at);
    if (linking.lineage != nullptr) [[unlikely]] {
      lineage_close(worker, task);  // the earlier predecessors have completed
      lineage_publish(task, linking.lineage);
      if (gate->holds_task) propagate_priority(worker, task);
    }
    if (!end_linking(linking)) return false;
  }
  open_gate(worker, task);
  return true;
}

void open_gate(Worker* worker, Task* task) {
  Gate* gate = task->gate;
  task->flags &= ~(task_flag::kGated | (gate->holds_task ? task_flag::kEmpty : 0));
  task->gate = nullptr;
  SlabPool::release(gate, worker->pool);
}

}  // namespace marline
