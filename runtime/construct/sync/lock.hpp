// SPDX-License-Identifier: Apache-2.0
//
// Locks and critical (OpenMP 5.2, sections 15.2 and 18.9). A lock has four bytes, because GCC's omp_lock_t has four;
// zero is free. A task that must wait is suspended, so its thread is free for other tasks, also if the owner of the
// lock is suspended elsewhere. A contended release wakes the longest waiter.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace marline {

struct Task;

using LockWord = Atomic<uint32_t>;

void lock_acquire(LockWord& word);
[[nodiscard]] bool lock_try(LockWord& word);
void lock_release(LockWord& word);

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
uint32_t nest_lock_acquire(NestLock* lock);
uint32_t nest_lock_try(NestLock* lock);
uint32_t nest_lock_release(NestLock* lock);

// The lock of the unnamed critical section, and the lock of all atomics without an instruction.
extern LockWord g_unnamed_critical;
extern LockWord g_atomic_lock;

}  // namespace marline
