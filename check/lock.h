/* SPDX-License-Identifier: Apache-2.0
 *
 * A spinning lock for the checker's own tables: the checker must not use the mutexes that it watches. Held for some
 * dozens of instructions, by any thread; code that runs under it takes no other lock.
 */
#ifndef MARLINE_CHECK_LOCK_H
#define MARLINE_CHECK_LOCK_H

#include <sched.h>
#include <stdatomic.h>

typedef struct Lock {
  atomic_flag taken;
} Lock;

static inline void lock_take(Lock *lock)
{
  /* acquire: pairs with the release of lock_give. */
  while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
    sched_yield();
}

static inline void lock_give(Lock *lock) { atomic_flag_clear_explicit(&lock->taken, memory_order_release); }

#endif
