// SPDX-License-Identifier: Apache-2.0
//
// Keeps, takes and drops the properties set for the next task.
#include "construct/task/next_task.hpp"

#include "base/check.hpp"
#include "platform/memory_domain.hpp"
#include "sched/locality.hpp"

#include <new>

namespace marline {

namespace {

void put_by(Worker* worker, NextTask* next) {
  if (worker->spare_next_task != nullptr) {  // the task has moved to another thread, which has a spare record
    next->~NextTask();
    SlabPool::release(next, worker->pool);
    return;
  }
  next->label = nullptr;
  next->color = 0;
  next->node = 0;
  next->domain = -1;
  next->domain_bytes = 0;
  next->object = nullptr;
  next->dependences.clear();
  worker->spare_next_task = next;
}

}  // namespace

void NextTask::add_object(const DependObject* added) {
  if (count() == 0) {
    object = added;
  } else {
    buffer().append(added->list(), added->count);
  }
}

DependenceBuffer& NextTask::buffer() {
  if (object != nullptr) dependences.append(object->list(), object->count);
  object = nullptr;
  return dependences;
}

void drop_stale_next_task(Worker* worker) {
  NextTask* next = worker->next_task;
  if (next->owner == worker->task) return;
  if (next->count() != 0) {
    fatal(
        "a task called marline_task_depend or marline_task_depend_object, then did not create a task before it "
        "suspended, waited or ended: call it right before the task construct");
  }
  worker->next_task = nullptr;  // a name that its task did not use is dropped
  put_by(worker, next);
}

NextTask* make_next_task(Worker* worker) {
  NextTask* next = worker->spare_next_task;
  if (next == nullptr) next = new (worker->pool->allocate(sizeof(NextTask))) NextTask;
  worker->spare_next_task = nullptr;
  next->owner = worker->task;
  return worker->next_task = next;
}

size_t next_dependences(Worker* worker) {
  drop_stale_next_task(worker);
  return worker->next_task != nullptr ? worker->next_task->count() : 0;
}

void take_next_name(Worker* worker, Task* task) {
  NextTask* next = worker->next_task;
  if (next == nullptr) return;
  if (next->label != nullptr || next->color != 0 || next->node != 0) {
    task->label = next->label;
    task->look = next->color | static_cast<uint32_t>(next->node) << Task::kNodeShift;  // at most 255: kMostDevices
    task->flags |= task_flag::kLabelled;
    next->label = nullptr;
    next->color = 0;
    next->node = 0;
  }
  if (next->domain >= 0) {
    task->set_domain(next->domain);
    next->domain = -1;
    next->domain_bytes = 0;
  }
  if (next->count() != 0) return;
  worker->next_task = nullptr;
  put_by(worker, next);
}

void next_task_affinity(Worker* worker, const void* address, size_t bytes) {
  if (!affinity_matters(worker)) return;
  DomainTally tally;
  tally.add(address, bytes);
  NextTask* next = next_task(worker);
  if (tally.most() < 0 || bytes <= next->domain_bytes) return;
  next->domain = tally.most();
  next->domain_bytes = bytes;
}

int take_next_node(Worker* worker) {
  NextTask* next = worker->next_task;
  if (next == nullptr || next->owner != worker->task || next->node == 0) return worker->task->cluster_node();
  int node = next->node;
  next->node = 0;
  bool is_empty = next->label == nullptr && next->color == 0 && next->domain < 0 && next->count() == 0;
  if (is_empty) {
    worker->next_task = nullptr;
    put_by(worker, next);
  }
  return node;
}

const DependObject* take_sole_object(Worker* worker) {
  NextTask* next = worker->next_task;
  const DependObject* object = next->object;
  if (object == nullptr) return nullptr;
  worker->next_task = nullptr;
  put_by(worker, next);
  return object;
}

NextDependences::NextDependences(Worker* worker, const Dependence* list, size_t count) : next_(worker->next_task) {
  worker->next_task = nullptr;
  DependenceBuffer& all = next_->buffer();
  all.append(list, count);
  list_ = all.list();
  count_ = all.count();
}

NextDependences::~NextDependences() { put_by(this_worker(), next_); }

}  // namespace marline
