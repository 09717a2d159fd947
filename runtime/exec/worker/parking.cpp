// SPDX-License-Identifier: Apache-2.0
//
// The parking lot. Its buckets are static; any thread uses them under their locks.
//
// No lost wake-up between wait_for and wake: the waiter raises `count` before it reads the word again, the writer
// changes the word before it reads `count`, all four seq_cst. So the waiter sees the new value or the writer sees the
// waiter. In the second case the writer finds the waiter in the list, because the waiter reads the word and pushes
// itself under the lock that the writer takes. The same holds between wait_for and interrupt, with the interrupting
// count in the place of the word, and all buckets in the place of one.
#include "exec/worker/parking.hpp"

#include "base/hash.hpp"
#include "config/options.hpp"
#include "exec/worker/suspend.hpp"
#include "sched/queue.hpp"
#include "sched/team.hpp"

#include <algorithm>
#include <cerrno>

namespace marline {

namespace {

constexpr int kBucketBits = 8;
constexpr size_t kBuckets = 1 << kBucketBits;
constexpr int kSpins = 40;
constexpr int kFirstSpins = 4;

ParkingBucket g_buckets[kBuckets];

// Whether a word satisfies a waiter. Once it does, it does for ever: counters grow, flags stay set.
using Reached = bool (*)(uint64_t word, uint64_t wanted);
bool at_least(uint64_t word, uint64_t value) { return word >= value; }
bool has_bits(uint64_t word, uint64_t bits) { return (word & bits) != 0; }

bool is_interrupted(Interruption by) { return by.count != nullptr && by.count->load(seq_cst) != by.seen; }

// acquire pairs with the change in advance and set_bits.
template <Reached kReached>
bool comes_soon(const Atomic<uint64_t>& word, uint64_t wanted, int spins) {
  for (int i = spins; i >= 0; --i) {
    if (kReached(word.load(acquire), wanted)) return true;
    cpu_relax();
  }
  return false;
}

// The same, and gives up the core between two looks.
template <Reached kReached>
bool comes_after_yields(const Atomic<uint64_t>& word, uint64_t wanted) {
  struct Looks {
    const Atomic<uint64_t>& word;
    uint64_t wanted;
  } looks{word, wanted};
  auto has_come = [](const void* context) {
    const auto* of = static_cast<const Looks*>(context);
    return kReached(of->word.load(acquire), of->wanted);
  };
  return yield_core_until(has_come, &looks);
}

template <Reached kReached>
bool wait_for(Atomic<uint64_t>& word, uint64_t wanted, Interruption interruption) {
  const int spins = spins_before_parking();
  if (comes_soon<kReached>(word, wanted, std::min(spins, kFirstSpins))) return true;
  if (spins != 0 && (comes_after_yields<kReached>(word, wanted) || comes_soon<kReached>(word, wanted, spins)))
    return true;
  ParkingBucket& bucket = parking_bucket(&word);
  Parked self;
  self.key = &word;
  self.value = wanted;
  self.interruption = interruption;
  bucket.count.fetch_add(1, seq_cst);
  bucket.lock.lock();
  bool parked = !kReached(word.load(seq_cst), wanted) && !is_interrupted(interruption);
  if (parked) bucket.waiting.push(&self);
  bucket.lock.unlock();
  if (parked) wait_event(&self.event, {WaitKind::kTurn, &word, nullptr});
  bucket.count.fetch_sub(1, relaxed);
  return kReached(word.load(acquire), wanted);
}

// Wakes the waiters that `take` removes from the bucket. The word that `take` checks was changed before, seq_cst.
template <class Take>
void wake(ParkingBucket& bucket, Take take) {
  if (bucket.count.load(seq_cst) == 0) return;
  bucket.lock.lock();
  Parked* due = take(bucket.waiting).head;
  bucket.lock.unlock();
  while (due != nullptr) {
    Parked* next = due->next;  // `due` lives on a stack that goes on once its event is fulfilled
    fulfil(this_worker_or_null(), &due->event);
    due = next;
  }
}

// Wakes the waiters for the word at `key` that its new value `now` satisfies.
template <Reached kReached>
void wake_reached(ParkingBucket& bucket, const void* key, uint64_t now) {
  auto is_due = [now](const Parked& parked) { return kReached(now, parked.value); };
  wake(bucket, [key, is_due](ParkedTree& waiting) { return waiting.take_due(key, is_due); });
}

// The hash bits that choose the sides in the tree; the lower bits choose the bucket.
uint64_t sides_of(const void* key) { return mix64(reinterpret_cast<uintptr_t>(key)) >> kBucketBits; }

// Removes a node. A leaf from below takes its place: both keys have the same bits down to this level.
void unlink(Parked** link) {
  Parked* node = *link;
  Parked** leaf = link;
  while ((*leaf)->below[0] != nullptr || (*leaf)->below[1] != nullptr) {
    leaf = &(*leaf)->below[(*leaf)->below[0] == nullptr];
  }
  Parked* heir = *leaf;
  *leaf = nullptr;
  if (heir == node) return;
  heir->below[0] = node->below[0];
  heir->below[1] = node->below[1];
  *link = heir;
}

// Appends all waiters of the tree to `list`. The recursion is as deep as the tree: some 60 levels at most.
void collect(Parked* node, ParkedList& list) {
  if (node == nullptr) return;
  Parked* below[2] = {node->below[0], node->below[1]};
  ParkedList of_word{node, node->last};
  list.append(of_word);
  for (Parked* side : below) collect(side, list);
}

}  // namespace

Parked** ParkedTree::find(const void* key) {
  Parked** link = &root_;
  for (uint64_t sides = sides_of(key); *link != nullptr && (*link)->key != key; sides >>= 1) {
    link = &(*link)->below[sides & 1];
  }
  return link;
}

void ParkedTree::push(Parked* parked) {
  Parked** link = find(parked->key);
  parked->next = nullptr;
  if (Parked* first = *link) {
    first->last = first->last->next = parked;
    return;
  }
  parked->last = parked;
  parked->below[0] = parked->below[1] = nullptr;
  *link = parked;
}

Parked* ParkedTree::take_first(const void* key, bool* more) {
  Parked** link = find(key);
  Parked* first = *link;
  *more = first != nullptr && first->next != nullptr;
  if (first == nullptr) return nullptr;
  if (Parked* second = first->next) {
    second->last = first->last;
    second->below[0] = first->below[0];
    second->below[1] = first->below[1];
    *link = second;
  } else {
    unlink(link);
  }
  first->next = nullptr;
  return first;
}

ParkedList ParkedTree::take_all(const void* key) {
  Parked** link = find(key);
  Parked* first = *link;
  if (first == nullptr) return {};
  unlink(link);
  return {first, first->last};
}

ParkedList ParkedTree::take_all() {
  ParkedList all;
  collect(root_, all);
  root_ = nullptr;
  return all;
}

ParkingBucket& parking_bucket(const void* key) { return g_buckets[mix64(reinterpret_cast<uintptr_t>(key)) % kBuckets]; }

void parking_before_fork() {
  for (ParkingBucket& bucket : g_buckets) bucket.lock.lock();
}

void parking_after_fork() {
  for (ParkingBucket& bucket : g_buckets) bucket.lock.unlock();
}

void parking_after_fork_in_child() {
  const int* error_number = &errno;  // identifies this thread's workers: it has several where a library calls back
  auto is_stuck = [error_number](const Parked& parked) {
    // Null: the task was about to wait, on a thread that the child does not have.
    const Task* task = parked.event.waiting_task();
    return task == nullptr || (task->home != nullptr && task->home->thread.error_number != error_number);
  };
  for (ParkingBucket& bucket : g_buckets) (void)bucket.waiting.take_due(is_stuck);
  parking_after_fork();
}

int spins_before_parking() { return options().spin_us == 0 ? 0 : kSpins; }

bool wait_at_least(Atomic<uint64_t>& word, uint64_t value, Interruption interruption) {
  return wait_for<at_least>(word, value, interruption);
}

void advance(Atomic<uint64_t>& word, uint64_t value) {
  ParkingBucket& bucket = parking_bucket(&word);
  word.store(value, seq_cst);
  wake_reached<at_least>(bucket, &word, value);
}

void advance_from(Atomic<uint64_t>& word, uint64_t from, uint64_t value) {
  ParkingBucket& bucket = parking_bucket(&word);
  if (word.compare_exchange_strong(from, value, seq_cst)) wake_reached<at_least>(bucket, &word, value);
}

bool wait_for_bits(Atomic<uint64_t>& word, uint64_t bits, Interruption interruption) {
  return wait_for<has_bits>(word, bits, interruption);
}

void set_bits(Atomic<uint64_t>& word, uint64_t bits) {
  ParkingBucket& bucket = parking_bucket(&word);
  uint64_t now = word.fetch_or(bits, seq_cst) | bits;
  wake_reached<has_bits>(bucket, &word, now);
}

void interrupt(Atomic<uint64_t>& count) {
  count.fetch_add(1, seq_cst);
  for (ParkingBucket& bucket : g_buckets) {
    wake(bucket, [&count](ParkedTree& waiting) {
      return waiting.take_due([&count](const Parked& parked) { return parked.interruption.count == &count; });
    });
  }
}

}  // namespace marline
