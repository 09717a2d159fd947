// SPDX-License-Identifier: Apache-2.0
//
// Locks and critical (OpenMP 5.2, sections 15.2 and 18.9). A lock has four bytes, because GCC's omp_lock_t has four;
// zero is free. A task that must wait is suspended, so its thread is free for other tasks, also if the owner of the
// lock is suspended elsewhere. A contended release wakes the longest waiter.
#pragma once

#include "base/atomic.hpp"
#include "sched/team.hpp"

#include <cstdint>

namespace marline {

using LockWord = Atomic<uint32_t>;

namespace lock_state {
enum : uint32_t { kFree, kLocked, kContended };  // kContended: a task waits, or may wait
}

// Takes the lock if it is free. `state`: what it is from then on.
[[nodiscard]] inline bool lock_take(LockWord& word, uint32_t state = lock_state::kLocked) {
  uint32_t expected = lock_state::kFree;
  // Pairs with the release of the previous owner.
  return word.compare_exchange_strong(expected, state, acquire, relaxed);
}

void lock_acquire_waiting(LockWord& word);
inline void lock_acquire(LockWord& word) {
  if (!lock_take(word)) lock_acquire_waiting(word);
}

[[nodiscard]] bool lock_try(LockWord& word);

// The lock is not `kLocked`: wakes a task that waits, or ends the program if the lock is free.
void lock_release_rarely(LockWord& word);
inline void lock_release(LockWord& word) {
  uint32_t expected = lock_state::kLocked;
  if (!word.compare_exchange_strong(expected, lock_state::kFree, release, relaxed)) lock_release_rarely(word);
}

// The lock in storage of a compiler or of the program: the first four bytes.
inline LockWord& lock_word(void* storage) { return *static_cast<LockWord*>(storage); }

// Nestable locks: owned by a task, which may acquire them again. omp_nest_lock_t has 8 bytes (Clang) or 16 (GCC): its
// first 8 hold a pointer to a NestLock.
struct NestLock {
  LockWord word{0};
  uint32_t depth = 0;            // only the owner's; omp_test_nest_lock returns it as an int
  Atomic<Task*> owner{nullptr};  // written by the owner; other tasks only compare it with themselves
};

NestLock* nest_lock_create();
void nest_lock_destroy(NestLock* lock);

// Return the nesting depth after the call; nest_lock_try returns 0 if another task owns the lock.
uint32_t nest_lock_try(NestLock* lock);

// The task has the word of the lock, which had no owner.
inline uint32_t nest_lock_own(NestLock* lock, Task* task) {
  lock->owner.store(task, relaxed);
  return lock->depth = 1;
}

// Also for a thread that the runtime does not know, and if another task owns the lock.
uint32_t nest_lock_acquire_rarely(NestLock* lock);
inline uint32_t nest_lock_acquire(NestLock* lock) {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr) [[unlikely]] {
    return nest_lock_acquire_rarely(lock);
  }
  Task* self = worker->task;
  if (lock->owner.load(relaxed) == self) return ++lock->depth;
  return lock_take(lock->word) ? nest_lock_own(lock, self) : nest_lock_acquire_rarely(lock);
}

inline uint32_t nest_lock_release(NestLock* lock) {
  if (--lock->depth != 0) return lock->depth;
  lock->owner.store(nullptr, relaxed);
  lock_release(lock->word);
  return 0;
}

// The lock of the unnamed critical section, and the lock of all atomics without an instruction.
extern LockWord g_unnamed_critical;
extern LockWord g_atomic_lock;

}  // namespace marline
