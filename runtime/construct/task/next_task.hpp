// SPDX-License-Identifier: Apache-2.0
//
// Properties that the current task has set for the next task that it creates: name, colour, affinity, node, dependences
// (marline.h). Used by the thread that runs the current task. The worker has a record from the first such call to the
// task construct: allocate_task takes the name, spawn_task the dependences, and the function that takes the last
// property keeps the record for reuse. A program without such calls pays one branch on a null pointer.
#pragma once

#include "construct/task/dependence_buffer.hpp"
#include "graph/depend_object.hpp"
#include "sched/team.hpp"

namespace marline {

struct NextTask {
  Task* owner = nullptr;  // that said it; the rest is empty in a record that is put by
  const char* label = nullptr;
  uint32_t color = 0;
  int node = 0;     // of a cluster; 0: any
  int domain = -1;  // of its affinity, with so many bytes; -1: none
  size_t domain_bytes = 0;
  const DependObject* object = nullptr;  // its list stands for all dependences; null: they are in the buffer
  DependenceBuffer dependences;

  void add_object(const DependObject* added);
  DependenceBuffer& buffer();  // to add to
  [[nodiscard]] size_t count() const { return object != nullptr ? object->count : dependences.count(); }
};

// Looks for what another task has left behind.
void drop_stale_next_task(Worker* worker);
NextTask* make_next_task(Worker* worker);

// The current task's record, made if there is none.
inline NextTask* next_task(Worker* worker) {
  if (worker->next_task == nullptr) return make_next_task(worker);
  if (worker->next_task->owner == worker->task) return worker->next_task;
  drop_stale_next_task(worker);
  return make_next_task(worker);
}

// With a record: how many dependences the current task's holds; moving its name to the task.
size_t next_dependences(Worker* worker);
void take_next_name(Worker* worker, Task* task);

// marline_task_affinity: of several pieces, the largest decides.
void next_task_affinity(Worker* worker, const void* address, size_t bytes);

// For a target construct of the current task: the record's node, taken from it, or else the task's own.
[[nodiscard]] int take_next_node(Worker* worker);

// With a record: the object that is all that it holds, taken from the worker; null: there is more.
const DependObject* take_sole_object(Worker* worker);

// With a record: its dependences, taken from the worker, and those of the construct.
class NextDependences {
 public:
  NextDependences(Worker* worker, const Dependence* list, size_t count);
  NextDependences(const NextDependences&) = delete;
  NextDependences& operator=(const NextDependences&) = delete;
  ~NextDependences();

  [[nodiscard]] const Dependence* list() const { return list_; }
  [[nodiscard]] size_t count() const { return count_; }

 private:
  NextTask* next_;
  const Dependence* list_;
  size_t count_;
};

}  // namespace marline
