// SPDX-License-Identifier: Apache-2.0
//
// Locks. The word: free -> locked by an uncontended acquire; any -> contended by one about to wait, under its parking
// bucket's lock. A releaser that finds `contended` takes that lock too, so it sees the waiter or the waiter sees the
// free word. Hand-over leaves the word locked: the heir owns it without touching it.
#include "construct/lock.hpp"

#include "base/check.hpp"
#include "construct/parking.hpp"
#include "exec/suspend.hpp"
#include "sched/queue.hpp"

#include <cstdlib>
#include <new>

namespace marline {

namespace {

enum : uint32_t { kFree, kLocked, kContended };

void acquire_parked(LockWord& word) {
  ParkingBucket& bucket = parking_bucket(&word);
  Parked self;
  self.key = &word;
  bucket.lock.lock();
  // acquire pairs with the store of kFree in release_contended. Free after all: it is ours, and `contended` costs the
  // release one look.
  bool parked = word.exchange(kContended, acquire) != kFree;
  if (parked) bucket.waiting.push_back(&self);
  bucket.lock.unlock();
  if (parked) wait_event(&self.event, {WaitKind::kLock, &word, nullptr});
}

// The longest waiter of `key`; `*more`: there is another one.
Parked* take_heir(ParkingBucket& bucket, const void* key, bool* more) {
  Fifo<Parked, &Parked::next> rest;
  Parked* heir = nullptr;
  *more = false;
  while (Parked* parked = bucket.waiting.pop_front()) {
    bool ours = parked->key == key;
    if (ours && heir == nullptr) {
      heir = parked;
      continue;
    }
    *more = *more || ours;
    rest.push_back(parked);
  }
  bucket.waiting = rest;
  return heir;
}

void release_contended(LockWord& word) {
  ParkingBucket& bucket = parking_bucket(&word);
  bool more;
  bucket.lock.lock();
  Parked* heir = take_heir(bucket, &word, &more);
  if (heir == nullptr) {
    word.store(kFree, release);
  } else {
    word.store(more ? kContended : kLocked, relaxed);  // ours until the heir's event tells it
  }
  bucket.lock.unlock();
  if (heir != nullptr) fulfil(this_worker_or_null(), &heir->event);
}

Task* current_task() { return this_worker()->task; }

}  // namespace

LockWord g_unnamed_critical{kFree};
LockWord g_atomic_lock{kFree};

bool lock_try(LockWord& word) {
  uint32_t expected = kFree;
  return word.load(relaxed) == kFree && word.compare_exchange_strong(expected, kLocked, acquire, relaxed);
}

void lock_acquire(LockWord& word) {
  if (lock_try(word)) return;
  for (int i = spins_before_parking(); i > 0; --i) {
    cpu_relax();
    if (lock_try(word)) return;
  }
  acquire_parked(word);
}

void lock_release(LockWord& word) {
  uint32_t expected = kLocked;
  if (word.compare_exchange_strong(expected, kFree, release, relaxed)) return;
  if (expected == kFree) {
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

uint32_t nest_lock_acquire(NestLock* lock) {
  Task* self = current_task();
  if (lock->owner.load(relaxed) == self) return ++lock->depth;
  lock_acquire(lock->word);
  lock->owner.store(self, relaxed);
  return lock->depth = 1;
}

uint32_t nest_lock_try(NestLock* lock) {
  Task* self = current_task();
  if (lock->owner.load(relaxed) == self) return ++lock->depth;
  if (!lock_try(lock->word)) return 0;
  lock->owner.store(self, relaxed);
  return lock->depth = 1;
}

uint32_t nest_lock_release(NestLock* lock) {
  if (--lock->depth != 0) return lock->depth;
  lock->owner.store(nullptr, relaxed);
  lock_release(lock->word);
  return 0;
}

}  // namespace marline
