// SPDX-License-Identifier: Apache-2.0
//
// Task reductions for Clang's code. A ReductionSet belongs to its taskgroup. Only tasks that run on a thread write this
// thread's copies; the group's owner reads them after the group has ended.
#include "construct/task/task_reduction.hpp"

#include "base/check.hpp"
#include "base/shared_pool.hpp"
#include "construct/task/reduction_set.hpp"
#include "construct/task/task.hpp"
#include "exec/worker/suspend.hpp"

#include <cstring>

namespace marline {

namespace {

void* copy_of(ReductionSet* set, size_t item, int thread) {
  void* copy = set->copy(item, thread).load(relaxed);
  if (copy != nullptr) return copy;
  const ReductionItem& what = set->items[item];
  size_t bytes = (what.bytes + kCacheLine - 1) & ~(kCacheLine - 1);  // threads do not share lines
  copy = shared_allocate(bytes);
  if (what.initialise != nullptr) {
    what.initialise(copy, what.original);
  } else {
    std::memset(copy, 0, what.bytes);
  }
  set->copy(item, thread).store(copy, release);  // pairs with combine and, through the tasks' order, with find_item
  return copy;
}

bool inside(const void* address, const void* base, size_t bytes) {
  auto at = reinterpret_cast<uintptr_t>(address);
  auto from = reinterpret_cast<uintptr_t>(base);
  return base != nullptr && at >= from && at - from < bytes;
}

// The item that `address` names: by its variable, or by a copy that an enclosing task was given.
bool find_item(const ReductionSet* set, void* address, size_t* item) {
  for (size_t i = 0; i < set->count; ++i) {
    *item = i;
    if (set->items[i].shared == address) return true;
    for (int t = 0; t < set->threads; ++t) {
      if (inside(address, set->copy(i, t).load(acquire), set->items[i].bytes)) return true;
    }
  }
  return false;
}

void combine(ReductionSet* set) {
  for (size_t i = 0; i < set->count; ++i) {
    for (int t = 0; t < set->threads; ++t) {
      void* copy = set->copy(i, t).load(acquire);
      if (copy == nullptr) continue;
      set->items[i].combine(set->items[i].shared, copy);
      if (set->items[i].finalise != nullptr) set->items[i].finalise(copy);
      shared_release(copy);
    }
  }
  shared_release(set);
}

}  // namespace

void reductions_attach(Worker* worker, const ReductionItem* items, size_t count) {
  auto threads = static_cast<size_t>(worker->member->team->size);
  size_t bytes = sizeof(ReductionSet) + count * sizeof(ReductionItem) + count * threads * sizeof(void*);
  auto* set = static_cast<ReductionSet*>(shared_allocate_zeroed(bytes));
  set->count = count;
  set->threads = static_cast<int>(threads);
  set->items = reinterpret_cast<ReductionItem*>(set + 1);
  set->copies = reinterpret_cast<Atomic<void*>*>(set->items + count);
  std::memcpy(set->items, items, count * sizeof(ReductionItem));
  worker->task->taskgroup->reductions = set;
}

void* reduction_copy(Worker* worker, Taskgroup* group, void* address) {
  Task* task = worker->task;
  worker = pin_current_task(worker);
  for (Taskgroup* at = group != nullptr ? group : task->taskgroup; at != nullptr; at = at->outer) {
    ReductionSet* set = clang_reductions(at);
    size_t item;
    if (set != nullptr && find_item(set, address, &item)) return copy_of(set, item, worker->member->index);
  }
  fatal("a task names %p in in_reduction, but no enclosing taskgroup reduces it; add a task_reduction clause", address);
}

void taskgroup_end_reducing(Worker* worker, const void* codeptr) {
  ReductionSet* set = clang_reductions(worker->task->taskgroup);
  taskgroup_end(worker, codeptr);
  if (set != nullptr) combine(set);
}

}  // namespace marline
