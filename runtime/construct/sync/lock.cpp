// SPDX-License-Identifier: Apache-2.0
//
// Locks. The states of the word: free -> locked by an uncontended acquire; any state -> contended by a task that is
// about to wait, under its parking bucket's lock. A releaser that finds `contended` takes the bucket's lock too, so
// either it sees the waiter or the waiter sees the free word. It frees the word and wakes the task that has waited
// longest, which then competes for the lock again. Passing the lock directly from waiter to waiter would cost a wake-up
// per entry as long as any task waits. Only a task that has waited long gets the lock directly. A task that takes the
// word after a wait leaves it `contended`, because other tasks may still be parked.
#include "construct/sync/lock.hpp"

#include "base/check.hpp"
#include "base/clock.hpp"
#include "exec/worker/parking.hpp"
#include "exec/worker/suspend.hpp"
#include "sched/queue.hpp"

#include <cstdlib>
#include <new>

namespace marline {

namespace {

using namespace lock_state;

constexpr uint64_t kPatience = 1'000'000;  // ns; after that a waiter gets the lock directly

struct Waiter : Parked {
  uint64_t since = 0;  // start of the wait, in ns
  bool owns = false;   // woken as the owner of the lock; written before its event is fulfilled
};

// True: the calling task has the lock. False: it has waited for the lock and was woken without it.
bool take_or_park(LockWord& word, uint64_t since) {
  ParkingBucket& bucket = parking_bucket(&word);
  Waiter self;
  self.key = &word;
  self.since = since;
  bucket.lock.lock();
  // acquire pairs with the store of kFree in release_contended. If the word is free after all, the lock is ours, and
  // `contended` makes the release look into the bucket once.
  bool parked = word.exchange(kContended, acquire) != kFree;
  if (parked) bucket.waiting.push(&self);
  bucket.lock.unlock();
  if (!parked) return true;
  wait_event(&self.event, {WaitKind::kLock, &word, nullptr});
  return self.owns;
}

// For callers that try repeatedly: the load alone leaves the cache line with the lock's holder.
bool try_as(LockWord& word, uint32_t state) { return word.load(relaxed) == kFree && lock_take(word, state); }

// Tries at growing intervals: so the owner can take the lock several times in a row, with the protected data in its
// core's cache; each time costs a tenth of a transfer (Anderson, IEEE TPDS 1(1), 1990).
bool spin_for(LockWord& word, uint32_t state) {
  constexpr int kLongest = 8;
  int pauses = 1;
  for (int left = spins_before_parking(); left > 0; left -= pauses) {
    for (int i = 0; i < pauses; ++i) cpu_relax();
    if (try_as(word, state)) return true;
    if (pauses < kLongest) pauses *= 2;
  }
  return false;
}

void release_contended(LockWord& word) {
  ParkingBucket& bucket = parking_bucket(&word);
  bool more;
  bucket.lock.lock();
  // Only waiters for a lock are parked with its word as their key.
  auto* heir = static_cast<Waiter*>(bucket.waiting.take_first(&word, &more));
  if (heir != nullptr && nanoseconds_now() - heir->since > kPatience) {
    heir->owns = true;
    word.store(more ? kContended : kLocked, relaxed);  // relaxed: the word is ours until the heir's event is fulfilled
  } else {
    word.store(kFree, release);  // pairs with the acquire of the task that takes the lock
  }
  bucket.lock.unlock();
  if (heir != nullptr) fulfil(this_worker_or_null(), &heir->event);
}

Task* current_task() { return this_worker()->task; }

}  // namespace

LockWord g_unnamed_critical{kFree};
LockWord g_atomic_lock{kFree};

bool lock_try(LockWord& word) { return try_as(word, kLocked); }

// Not inlined, as lock_release_rarely and nest_lock_acquire_rarely: their callers need no registers saved then.
[[gnu::noinline]] void lock_acquire_waiting(LockWord& word) {
  if (spin_for(word, kLocked)) return;
  uint64_t since = nanoseconds_now();
  while (!take_or_park(word, since) && !spin_for(word, kContended)) {
  }
}

[[gnu::noinline]] void lock_release_rarely(LockWord& word) {
  if (word.load(relaxed) == kFree) {
    fatal("the lock at %p is unset but nobody has set it; set it first, and initialise it only once",
          static_cast<void*>(&word));
  }
  release_contended(word);
}

NestLock* nest_lock_create() {
  void* memory = std::malloc(sizeof(NestLock));
  if (memory == nullptr) fatal("no memory for a nestable lock");
  return new (memory) NestLock;
}

void nest_lock_destroy(NestLock* lock) { std::free(lock); }

[[gnu::noinline]] uint32_t nest_lock_acquire_rarely(NestLock* lock) {
  Task* self = current_task();
  if (lock->owner.load(relaxed) == self) return ++lock->depth;
  lock_acquire(lock->word);
  return nest_lock_own(lock, self);
}

uint32_t nest_lock_try(NestLock* lock) {
  Task* self = current_task();
  if (lock->owner.load(relaxed) == self) return ++lock->depth;
  return lock_try(lock->word) ? nest_lock_own(lock, self) : 0;
}

}  // namespace marline
