// SPDX-License-Identifier: Apache-2.0
//
// A hash table for each construct, from graph_id to the idle graphs of that id. Its lock is held for a search.
#include "abi/kmp/task/taskgraph_store.hpp"

#include "base/check.hpp"
#include "base/spin_lock.hpp"

#include <cstdlib>
#include <new>

namespace marline::kmp {

struct TaskgraphId {
  TaskgraphId* next;  // in the same bucket
  uintptr_t id;
  uint64_t resets;  // how often the program has reset this id
  StoredGraph* idle;
};

struct TaskgraphConstruct {
  SpinLock lock;  // of the fields below, and of all ids and idle graphs
  unsigned bits = 0;
  size_t count = 0;  // at most one id per bucket on average
  TaskgraphId** buckets = nullptr;
};

namespace {

void* allocate(size_t bytes) {
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) fatal("no memory (%zu bytes) for the graphs of a taskgraph construct", bytes);
  return memory;
}

TaskgraphId*& bucket_of(const TaskgraphConstruct* construct, uintptr_t id) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio: spreads neighbouring numbers
  return construct->buckets[construct->bits == 0 ? 0 : id * kGolden >> (64 - construct->bits)];
}

void widen(TaskgraphConstruct* construct) {
  TaskgraphId** old = construct->buckets;
  const size_t old_count = old == nullptr ? 0 : size_t{1} << construct->bits;
  construct->bits = old == nullptr ? 0 : construct->bits + 1;
  construct->buckets = static_cast<TaskgraphId**>(allocate(sizeof(TaskgraphId*) << construct->bits));
  for (size_t i = 0; i < old_count; ++i) {
    while (TaskgraphId* one = old[i]) {
      old[i] = one->next;
      TaskgraphId*& bucket = bucket_of(construct, one->id);
      one->next = bucket;
      bucket = one;
    }
  }
  std::free(old);
}

TaskgraphConstruct* construct_of(Atomic<TaskgraphConstruct*>& handle) {
  TaskgraphConstruct* construct = handle.load(acquire);  // pairs with the exchange
  if (construct != nullptr) return construct;
  auto* own = new (allocate(sizeof(TaskgraphConstruct))) TaskgraphConstruct;
  if (handle.compare_exchange_strong(construct, own, acq_rel, acquire)) return own;  // pairs with the load, and itself
  std::free(own);
  return construct;
}

TaskgraphId* find_id(TaskgraphConstruct* construct, uintptr_t id) {
  if (construct->buckets == nullptr) widen(construct);
  for (TaskgraphId* one = bucket_of(construct, id); one != nullptr; one = one->next) {
    if (one->id == id) return one;
  }
  if (construct->count == size_t{1} << construct->bits) widen(construct);
  TaskgraphId*& bucket = bucket_of(construct, id);
  auto* made = new (allocate(sizeof(TaskgraphId))) TaskgraphId{bucket, id, 0, nullptr};
  bucket = made;
  ++construct->count;
  return made;
}

}  // namespace

StoredGraph* take_graph(Atomic<TaskgraphConstruct*>& handle, uintptr_t id, bool reset, Worker* worker) {
  TaskgraphConstruct* construct = construct_of(handle);
  construct->lock.lock();
  TaskgraphId* of = find_id(construct, id);
  if (reset) ++of->resets;
  const uint64_t resets = of->resets;
  StoredGraph* stored = of->idle;
  if (stored != nullptr) of->idle = stored->next;
  construct->lock.unlock();
  if (stored == nullptr) {
    stored = static_cast<StoredGraph*>(allocate(sizeof(StoredGraph)));
    *stored = {nullptr, of, graph_begin(worker, GraphMode::kBarrier), resets};
  }
  if (stored->resets != resets) graph_invalidate(stored->graph);
  stored->resets = resets;
  return stored;
}

void give_back_graph(Atomic<TaskgraphConstruct*>& handle, StoredGraph* stored) {
  TaskgraphConstruct* construct = handle.load(acquire);  // pairs with the exchange in construct_of
  Guard<SpinLock> guard(construct->lock);
  stored->next = stored->id->idle;
  stored->id->idle = stored;
}

}  // namespace marline::kmp
