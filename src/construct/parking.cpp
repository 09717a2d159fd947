// SPDX-License-Identifier: Apache-2.0
//
// The parking lot. Its buckets are static; any thread uses them under their locks.
//
// No lost wake-up between wait_for and wake: the waiter raises `count` before it looks at the word again, the writer
// changes the word before it looks at `count`, all four seq_cst; so the waiter sees the new value or the writer sees the
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

// Whether a word is what a waiter wants it to be. One that was stays so: counters grow, flags stay set.
using Reached = bool (*)(uint64_t word, uint64_t wanted);
bool at_least(uint64_t word, uint64_t value) { return word >= value; }
bool has_bits(uint64_t word, uint64_t bits) { return (word & bits) != 0; }

// Unlinks the waiters of `key` that have what they want, now that it is `now`; they come back chained by `next`.
template <Reached kReached>
Parked* take_due(ParkingBucket& bucket, const void* key, uint64_t now) {
  Fifo<Parked, &Parked::next> due, rest;
  while (Parked* parked = bucket.waiting.pop_front()) {
    (parked->key == key && kReached(now, parked->value) ? due : rest).push_back(parked);
  }
  bucket.waiting = rest;
  return due.head;
}

template <Reached kReached>
void wait_for(Atomic<uint64_t>& word, uint64_t wanted) {
  for (int i = spins_before_parking(); i >= 0; --i) {
    if (kReached(word.load(acquire), wanted)) return;  // acquire pairs with the change in advance and set_bits
    cpu_relax();
  }
  ParkingBucket& bucket = parking_bucket(&word);
  Parked self;
  self.key = &word;
  self.value = wanted;
  bucket.count.fetch_add(1, seq_cst);
  bucket.lock.lock();
  bool parked = !kReached(word.load(seq_cst), wanted);
  if (parked) bucket.waiting.push_back(&self);
  bucket.lock.unlock();
  if (parked) wait_event(&self.event, {WaitKind::kTurn, &word, nullptr});
  bucket.count.fetch_sub(1, relaxed);
}

// The word at `key` was changed to `now`, seq_cst.
template <Reached kReached>
void wake(ParkingBucket& bucket, const void* key, uint64_t now) {
  if (bucket.count.load(seq_cst) == 0) return;
  bucket.lock.lock();
  Parked* due = take_due<kReached>(bucket, key, now);
  bucket.lock.unlock();
  while (due != nullptr) {
    Parked* next = due->next;  // `due` lives on a stack that goes on once its event is fulfilled
    fulfil(this_worker_or_null(), &due->event);
    due = next;
  }
}

}  // namespace

ParkingBucket& parking_bucket(const void* key) {
  return g_buckets[mix64(reinterpret_cast<uintptr_t>(key)) % kBuckets];
}

int spins_before_parking() { return options().spin_us == 0 ? 0 : kSpins; }

void wait_at_least(Atomic<uint64_t>& word, uint64_t value) { wait_for<at_least>(word, value); }

void advance(Atomic<uint64_t>& word, uint64_t value) {
  ParkingBucket& bucket = parking_bucket(&word);
  word.store(value, seq_cst);
  wake<at_least>(bucket, &word, value);
}

void wait_for_bits(Atomic<uint64_t>& word, uint64_t bits) { wait_for<has_bits>(word, bits); }

void set_bits(Atomic<uint64_t>& word, uint64_t bits) {
  ParkingBucket& bucket = parking_bucket(&word);
  uint64_t now = word.fetch_or(bits, seq_cst) | bits;
  wake<has_bits>(bucket, &word, now);
}

}  // namespace marline
