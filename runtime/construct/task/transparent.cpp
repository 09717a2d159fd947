// SPDX-License-Identifier: Apache-2.0
//
// Creates transparent tasks. Run by the task's creator; end_transparent by the thread that runs the task.
#include "construct/task/transparent.hpp"

#include "base/check.hpp"
#include "graph/dependences.hpp"
#include "graph/table.hpp"
#include "graph/transparent_scope.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

// Tasks that a library has claimed may end on threads without a worker, where no gate can be passed. Tasks that are
// created from now on are not claimed (inherit_table).
void wait_for_claimed(Worker* worker, Task* parent, const void* codeptr) {
  if (tool::target_observer() == nullptr || parent->table == nullptr) return;
  const Dependence all = {nullptr, Access::kOut};
  taskwait_depend(worker, &all, 1, codeptr);
}

// Returns the worker, which a wait may have changed.
Worker* open(Worker* worker, Task* task, const void* codeptr) {
  Task* parent = task->parent;
  const bool shared = parent->has(task_flag::kSharesTable) && !has_scope(parent);
  if (shared || parent->has(task_flag::kInGraph)) {
    fatal("a transparent task in %s: its children's dependences cannot be ordered there; leave out the clause",
          shared ? "a task that shares its dependences (marline_depend_share)"
                 : "an iteration of a persistent graph or a taskgraph");
  }
  task->flags &= ~task_flag::kTransparent;
  if (!parent->has(task_flag::kSharesTable)) wait_for_claimed(worker, parent, codeptr);
  open_scope(this_worker(), task);
  return this_worker();
}

// What orders the body of a task without depend clauses (link_across_scopes).
Dependence order_of_body(const Task* task, Access access) { return {task->table->scope->outer->bodies(), access}; }

}  // namespace

void spawn_transparent(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  worker = open(worker, task, codeptr);
  // A detached task would be ordered by its event rather than by its body, and a later task may fulfil that.
  if (count == 0 && task->has(task_flag::kDetach)) return spawn_task(worker, task, nullptr, 0, codeptr);
  const Dependence body = order_of_body(task, Access::kOut);
  spawn_task(worker, task, count != 0 ? list : &body, count != 0 ? count : 1, codeptr);
}

void spawn_transparent_chunk(Worker* worker, Task* task, const void* codeptr) {
  worker = open(worker, task, codeptr);
  const Dependence body = order_of_body(task, Access::kInoutset);
  spawn_task(worker, task, &body, 1, codeptr);
}

void run_transparent_chunk(Worker* worker, Task* task, const void* codeptr) {
  worker = open(worker, task, codeptr);
  const Dependence body = order_of_body(task, Access::kInoutset);
  run_undeferred(worker, task, &body, 1, codeptr);
}

void open_undeferred_transparent(Worker* worker, Task* task, const void* codeptr) {
  worker = open(worker, task, codeptr);
  const Dependence body = order_of_body(task, Access::kOut);
  taskwait_depend(worker, &body, 1, codeptr);
}

void end_transparent() { export_scope(this_worker()->task); }

}  // namespace marline
