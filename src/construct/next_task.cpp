// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "construct/next_task.hpp"

#include "base/check.hpp"
#include "platform/memory_domain.hpp"
#include "sched/locality.hpp"

#include <new>

namespace marline {

namespace {

void discard(NextTask* next) {
  next->~NextTask();
  SlabPool::release(next, this_worker()->pool);
}

// A name that its task did not use is lost; dependences must not be.
void drop_stale(Worker* worker) {
  NextTask* next = worker->next_task;
  if (next == nullptr || next->owner == worker->task) return;
  if (next->count() != 0) {
    fatal("a task called marline_task_depend or marline_task_depend_object, then did not create a task before it "
          "suspended, waited or ended: call it right before the task construct");
  }
  worker->next_task = nullptr;
  discard(next);
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

NextTask* next_task(Worker* worker) {
  drop_stale(worker);
  if (worker->next_task == nullptr) {
    worker->next_task = new (worker->pool->allocate(sizeof(NextTask))) NextTask(worker->task);
  }
  return worker->next_task;
}

size_t next_dependences(Worker* worker) {
  drop_stale(worker);
  return worker->next_task != nullptr ? worker->next_task->count() : 0;
}

void take_next_name(Worker* worker, Task* task) {
  NextTask* next = worker->next_task;
  if (next == nullptr) return;
  if (next->label != nullptr || next->color != 0) {
    task->label = next->label;
    task->color = next->color;
    task->flags |= task_flag::kLabelled;
    next->label = nullptr;
    next->color = 0;
  }
  if (next->domain >= 0) {
    task->set_domain(next->domain);
    next->domain = -1;
    next->domain_bytes = 0;
  }
  if (next->count() != 0) return;
  worker->next_task = nullptr;
  discard(next);
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

NextDependences::NextDependences(Worker* worker, const Dependence* list, size_t count) : next_(worker->next_task) {
  worker->next_task = nullptr;
  if (next_->object != nullptr && count == 0) {
    list_ = next_->object->list();
    count_ = next_->object->count;
    return;
  }
  DependenceBuffer& all = next_->buffer();
  all.append(list, count);
  list_ = all.list();
  count_ = all.count();
}

NextDependences::~NextDependences() { discard(next_); }

}  // namespace marline
