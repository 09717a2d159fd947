// SPDX-License-Identifier: Apache-2.0
//
// Properties that the current task has set for the next task that it creates: name, colour, affinity, node, dependences
// (marline.h). Used by the thread that runs the current task. The worker has a record from the first such call until
// the task construct: allocate_task takes the name, spawn_task the dependences, and the function that takes the last
// property keeps the record for reuse. A program without such calls pays one branch on a null pointer.
#pragma once

#include "construct/task/dependence_buffer.hpp"
#include "graph/depend_object.hpp"
#include "sched/team.hpp"

namespace marline {

struct NextTask {
  Task* owner = nullptr;  // the task that made the calls; in a spare record, all other fields are empty
  const char* label = nullptr;
  uint32_t color = 0;
  int node = 0;  // a node of the cluster; 0: any
  // The NUMA domain with most bytes of its affinity, and the number of bytes; -1: none.
  int domain = -1;
  size_t domain_bytes = 0;
  const DependObject* object = nullptr;  // not null: its list is all dependences; null: they are in `dependences`
  DependenceBuffer dependences;

  void add_object(const DependObject* added);
  DependenceBuffer& buffer();  // the buffer, for adding
  [[nodiscard]] size_t count() const { return object != nullptr ? object->count : dependences.count(); }
};

// Drops a record that another task left. Ends the program if the record has dependences.
void drop_stale_next_task(Worker* worker);
NextTask* make_next_task(Worker* worker);

// The current task's record, made if there is none.
inline NextTask* next_task(Worker* worker) {
  if (worker->next_task == nullptr) return make_next_task(worker);
  if (worker->next_task->owner == worker->task) return worker->next_task;
  drop_stale_next_task(worker);
  return make_next_task(worker);
}

// Call these with a record. next_dependences: the number of dependences in the current task's record. take_next_name:
// moves the name to the task.
size_t next_dependences(Worker* worker);
void take_next_name(Worker* worker, Task* task);

// marline_task_affinity: of several calls, the one with most bytes decides.
void next_task_affinity(Worker* worker, const void* address, size_t bytes);

// For a target construct of the current task: takes the node from the record; without one, returns the task's own node.
[[nodiscard]] int take_next_node(Worker* worker);

// With a record: if an object is all of its dependences, takes it from the worker; null: there are other dependences.
const DependObject* take_sole_object(Worker* worker);

// With a record: its dependences, taken from the worker, followed by the dependences of the construct.
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
