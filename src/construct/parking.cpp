// SPDX-License-Identifier: Apache-2.0
//
// The parking lot. Its buckets are static; any thread uses them under their locks.
//
// No lost wake-up in wait_at_least/advance: the waiter raises `count` before it looks at the word again, the writer
// stores the word before it looks at `count`, all four seq_cst; so the waiter sees the new value or the writer sees the
// waiter, and then finds it in the list, because the waiter looks and pushes under the lock that the writer takes.
#include "construct/parking.hpp"

#include "base/hash.hpp"
#include "config/options.hpp"
#include "exec/suspend.hpp"
#include "sched/queue.hpp"

namespace marline {

namespace {

constexpr size_t kBuckets = 256;
constexpr int kSpins = 40;

ParkingBucket g_buckets[kBuckets];

// Unlinks the waiters of `key` that wait for `value` or less; they come back chained by `next`.
Parked* take_due(ParkingBucket& bucket, const void* key, uint64_t value) {
  Fifo<Parked, &Parked::next> due, rest;
  while (Parked* parked = bucket.waiting.pop_front()) {
    (parked->key == key && parked->value <= value ? due : rest).push_back(parked);
  }
  bucket.waiting = rest;
  return due.head;
}

}  // namespace

ParkingBucket& parking_bucket(const void* key) {
  return g_buckets[mix64(reinterpret_cast<uintptr_t>(key)) % kBuckets];
}

int spins_before_parking() { return options().spin_us == 0 ? 0 : kSpins; }

void wait_at_least(Atomic<uint64_t>& word, uint64_t value) {
  for (int i = spins_before_parking(); i >= 0; --i) {
    if (word.load(acquire) >= value) return;  // acquire pairs with the store in advance
    cpu_relax();
  }
  ParkingBucket& bucket = parking_bucket(&word);
  Parked self;
  self.key = &word;
  self.value = value;
  bucket.count.fetch_add(1, seq_cst);
  bucket.lock.lock();
  bool parked = word.load(seq_cst) < value;
  if (parked) bucket.waiting.push_back(&self);
  bucket.lock.unlock();
  if (parked) wait_event(&self.event, {WaitKind::kTurn, &word, nullptr});
  bucket.count.fetch_sub(1, relaxed);
}

void advance(Atomic<uint64_t>& word, uint64_t value) {
  ParkingBucket& bucket = parking_bucket(&word);
  word.store(value, seq_cst);
  if (bucket.count.load(seq_cst) == 0) return;
  bucket.lock.lock();
  Parked* due = take_due(bucket, &word, value);
  bucket.lock.unlock();
  while (due != nullptr) {
    Parked* next = due->next;  // `due` lives on a stack that goes on once its event is fulfilled
    fulfil(this_worker_or_null(), &due->event);
    due = next;
  }
}

}  // namespace marline
