// SPDX-License-Identifier: Apache-2.0
//
// A parking lot: tasks wait here for a change of a word in memory that has no room for a list of waiters (a 4-byte
// omp_lock_t, the turn of an ordered loop, the posts of a doacross loop). A waiter is in the list of a bucket, which
// the word's address selects, with an Event on its own stack. Waiters are suspended, so they block no thread, even if
// the task that will write the word is suspended.
//
// Invariant: a Parked is in its bucket's list exactly from push to removal, both under the bucket's lock; the thread
// that removes it fulfils its event, after releasing the lock, and does not access it again.
//
// The forking thread holds the buckets' locks across fork, so no lock stays held in the child.
//
// A wait may have a second way to end: a count that is raised (interrupt) when the word may never change any more.
#pragma once

#include "base/intrusive.hpp"
#include "base/spin_lock.hpp"
#include "task/event.hpp"

#include <cstdint>

namespace marline {

struct Worker;

// A count, and what the waiter saw of it before it found that it must wait. No count: the wait has one end only.
struct Interruption {
  const Atomic<uint64_t>* count = nullptr;
  uint64_t seen = 0;
};

struct Parked {
  Event event;
  const void* key = nullptr;
  uint64_t value = 0;
  Interruption interruption;
  Parked* next = nullptr;
};

struct alignas(kCacheLine) ParkingBucket {
  SpinLock lock;
  Atomic<uint32_t> count{0};  // parked or about to be; written by waiters and removers, read by wakers
  Fifo<Parked, &Parked::next> waiting;
};

ParkingBucket& parking_bucket(const void* key);

void parking_before_fork();
void parking_after_fork();
void parking_after_fork_in_child(const Worker* worker);  // waiters whose threads are not there are forgotten

// Takes those out for whom `is_due` holds, the longest waiter first. Under the bucket's lock.
template <class Due>
Fifo<Parked, &Parked::next> take_due(ParkingBucket& bucket, Due is_due) {
  Fifo<Parked, &Parked::next> due, rest;
  while (Parked* parked = bucket.waiting.pop_front()) (is_due(*parked) ? due : rest).push_back(parked);
  bucket.waiting = rest;
  return due;
}

// Bounded spinning before a task parks: about a microsecond, none if MARLINE_SPIN is 0.
int spins_before_parking();

// Waits until `word` is at least `value`, which an `advance` must bring about. False: it was interrupted before.
bool wait_at_least(Atomic<uint64_t>& word, uint64_t value, Interruption interruption = {});

// Raises `word` to `value` and lets the tasks go that wait for that or less; they see what was written before.
void advance(Atomic<uint64_t>& word, uint64_t value);

// The same if `word` is `from`; several threads may do so at a time.
void advance_from(Atomic<uint64_t>& word, uint64_t from, uint64_t value);

// The same for a word of 64 flags: waits until one of `bits` is set, which a `set_bits` must bring about.
bool wait_for_bits(Atomic<uint64_t>& word, uint64_t bits, Interruption interruption = {});
void set_bits(Atomic<uint64_t>& word, uint64_t bits);

// Moves `count` on, and lets the tasks go whose waits that ends, wherever they wait.
void interrupt(Atomic<uint64_t>& count);

}  // namespace marline
