// SPDX-License-Identifier: Apache-2.0
//
// Task reductions for Clang's code. A ReductionSet belongs to its taskgroup. Only tasks that run on a thread write this
// thread's copies; the group's owner reads them after the group has ended. Target tasks that a library claims share one
// more copy, which the library fills when the group has ended.
#include "construct/task/task_reduction.hpp"

#include "base/check.hpp"
#include "base/memory/shared_pool.hpp"
#include "construct/task/gcc_reduction.hpp"
#include "construct/task/task.hpp"
#include "exec/worker/suspend.hpp"
#include "sched/pool_tasks.hpp"
#include "tool/target_observer.hpp"
#include "tool/tool.hpp"

#include <cstring>

namespace marline {

namespace {

// What Taskgroup::reductions points to: the reduction items of the taskgroup, and the threads' copies.
struct ReductionSet {
  size_t count;
  int threads;
  ReductionItem* items;
  // Indexed [item][thread], plus one copy per item for claimed target tasks (marline_reduction_t in devices.h). Null
  // until a task on that thread, or the first claimed task, asks. A thread's copy is set on that thread; the claimed
  // tasks' copy is set by the first thread that asks. Other threads compare addresses with the copies.
  Atomic<void*>* copies;

  [[nodiscard]] size_t columns() const { return static_cast<size_t>(threads) + 1; }
  [[nodiscard]] Atomic<void*>& copy(size_t item, int thread) const {
    return copies[item * columns() + static_cast<size_t>(thread)];
  }
  [[nodiscard]] Atomic<void*>& claimed_copy(size_t item) const { return copy(item, threads); }
};

ReductionSet* clang_reductions(const Taskgroup* group) {
  return is_gcc(group) ? nullptr : static_cast<ReductionSet*>(group->reductions);
}

void* make_copy(const ReductionItem& what) {
  size_t bytes = (what.bytes + kCacheLine - 1) & ~(kCacheLine - 1);  // threads do not share lines
  void* copy = shared_allocate(bytes);
  tool::reduction_copies(copy, bytes);
  if (what.initialise != nullptr) {
    what.initialise(copy, what.original);
  } else {
    std::memset(copy, 0, what.bytes);
  }
  return copy;
}

void release_copy(const ReductionItem& what, void* copy) {
  if (what.finalise != nullptr) what.finalise(copy);
  shared_release(copy);
}

void* copy_of(ReductionSet* set, size_t item, int thread) {
  void* copy = set->copy(item, thread).load(relaxed);
  if (copy != nullptr) return copy;
  copy = make_copy(set->items[item]);
  set->copy(item, thread).store(copy, release);  // pairs with combine and, through the tasks' order, with find_item
  return copy;
}

// Several threads may make the copy at the same time; the first one is used.
void* claimed_copy_of(ReductionSet* set, size_t item) {
  void* copy = set->claimed_copy(item).load(acquire);  // pairs with the exchange
  if (copy != nullptr) return copy;
  void* own = make_copy(set->items[item]);
  if (set->claimed_copy(item).compare_exchange_strong(copy, own, acq_rel, acquire)) return own;
  release_copy(set->items[item], own);
  return copy;
}

bool inside(const void* address, const void* base, size_t bytes) {
  auto at = reinterpret_cast<uintptr_t>(address);
  auto from = reinterpret_cast<uintptr_t>(base);
  return base != nullptr && at >= from && at - from < bytes;
}

// Finds the item that `address` names: by its variable, or by a copy that an enclosing task got. `named`: the address
// that matched.
bool find_item(const ReductionSet* set, void* address, size_t* item, void** named) {
  for (size_t i = 0; i < set->count; ++i) {
    *item = i;
    *named = address;
    if (set->items[i].shared == address) return true;
    for (int t = 0; t < set->threads; ++t) {
      *named = set->copy(i, t).load(acquire);
      if (inside(address, *named, set->items[i].bytes)) return true;
    }
  }
  return false;
}

void combine(const ReductionItem& what, void* copy) {
  if (copy == nullptr) return;
  what.combine(what.shared, copy);
  release_copy(what, copy);
}

// The data of claimed tasks may have to be fetched: the task may suspend.
void combine_claimed(const ReductionItem& what, void* copy) {
  if (copy == nullptr) return;
  auto* reduced = tool::target_observer()->reduced;
  if (reduced != nullptr && reduced(copy) != 0) return combine(what, copy);
  release_copy(what, copy);
}

void combine(ReductionSet* set) {
  for (size_t i = 0; i < set->count; ++i) {
    for (int t = 0; t < set->threads; ++t) combine(set->items[i], set->copy(i, t).load(acquire));
    combine_claimed(set->items[i], set->claimed_copy(i).load(acquire));
  }
  shared_release(set);
}

ReductionSet* find_set(const Worker* worker, Taskgroup* group, void* address, size_t* item, void** named) {
  for (Taskgroup* at = group != nullptr ? group : worker->task->taskgroup; at != nullptr; at = at->outer) {
    ReductionSet* set = clang_reductions(at);
    if (set != nullptr && find_item(set, address, item, named)) return set;
  }
  fatal("a task names %p in in_reduction, but no enclosing taskgroup reduces it; add a task_reduction clause", address);
}

}  // namespace

void reductions_attach(Worker* worker, const ReductionItem* items, size_t count) {
  auto threads = static_cast<size_t>(worker->member->team->size + copies_for_agents());
  size_t bytes = sizeof(ReductionSet) + count * sizeof(ReductionItem) + count * (threads + 1) * sizeof(void*);
  auto* set = static_cast<ReductionSet*>(shared_allocate_zeroed(bytes));
  set->count = count;
  set->threads = static_cast<int>(threads);
  set->items = reinterpret_cast<ReductionItem*>(set + 1);
  set->copies = reinterpret_cast<Atomic<void*>*>(set->items + count);
  std::memcpy(set->items, items, count * sizeof(ReductionItem));
  worker->task->taskgroup->reductions = set;
}

void* reduction_copy(Worker* worker, Taskgroup* group, void* address) {
  worker = pin_current_task(worker);
  size_t item;
  void* named;
  ReductionSet* set = find_set(worker, group, address, &item, &named);
  return copy_of(set, item, copy_number(worker));
}

bool is_of_others_reduction(const Worker* worker, const void* address) {
  for (const Taskgroup* at = worker->task->taskgroup; at != nullptr; at = at->outer) {
    const ReductionSet* set = clang_reductions(at);
    for (size_t i = 0; set != nullptr && i < set->count; ++i) {
      const ReductionItem& what = set->items[i];
      if (inside(address, what.shared, what.bytes)) return true;
      for (int t = 0; t < set->threads; ++t) {
        if (t != copy_number(worker) && inside(address, set->copy(i, t).load(acquire), what.bytes)) return true;
      }
    }
  }
  return false;
}

void* reduction_copy_to_claim(Worker* worker, Taskgroup* group, void* address) {
  size_t item;
  void* named;
  ReductionSet* set = find_set(worker, group, address, &item, &named);
  const ReductionItem& what = set->items[item];
  void* copy = claimed_copy_of(set, item);
  marline_reduction_t reported = {named, copy, what.bytes, what.combine};
  tool::target_observer()->reduces(&reported);
  return copy;
}

void taskgroup_end_reducing(Worker* worker, const void* codeptr) {
  ReductionSet* set = clang_reductions(worker->task->taskgroup);
  taskgroup_end(worker, codeptr);
  if (set != nullptr) combine(set);
}

}  // namespace marline
