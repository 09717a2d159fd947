// SPDX-License-Identifier: Apache-2.0
//
// A task's copies form a chain from the newest to the oldest. With task_flag::kOwnIcvs, task->icvs points into the
// newest copy.
#include "task/own_icvs.hpp"

#include <cstddef>
#include <new>

namespace marline {

namespace {

struct OwnIcvs {
  Icvs values;  // first: task->icvs points to it
  OwnIcvs* older;
};
static_assert(offsetof(OwnIcvs, values) == 0);

// True: no living child shares the values with the task.
bool unshared(const Task* task) {
  return task->created == 0 && task->children.load(acquire) == 0;  // acquire pairs with the children's last reads
}

}  // namespace

Icvs& writable_icvs(Task* task, SlabPool* pool) {
  bool own = task->has(task_flag::kOwnIcvs | task_flag::kImplicit);
  if (own && unshared(task)) return *task->icvs;
  OwnIcvs* older = task->has(task_flag::kOwnIcvs) ? reinterpret_cast<OwnIcvs*>(task->icvs) : nullptr;
  auto* copy = new (pool->allocate(sizeof(OwnIcvs))) OwnIcvs{*task->icvs, older};
  fence_signal();
  task->icvs = &copy->values;
  task->flags |= task_flag::kOwnIcvs;
  return copy->values;
}

void free_own_icvs(Task* task, SlabPool* pool, Icvs* base) {
  if (!task->has(task_flag::kOwnIcvs)) return;
  auto* copy = reinterpret_cast<OwnIcvs*>(task->icvs);
  task->icvs = base;
  task->flags &= ~task_flag::kOwnIcvs;
  fence_signal();
  while (copy != nullptr) {
    OwnIcvs* older = copy->older;
    SlabPool::release(copy, pool);
    copy = older;
  }
}

}  // namespace marline
