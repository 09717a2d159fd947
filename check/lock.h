/* SPDX-License-Identifier: Apache-2.0
 *
 * A spinning lock for the checker's own tables: the checker must not use the mutexes that it watches. Held for some
 * dozens of instructions, by any thread; code that runs under it takes no other lock. In a child of fork() all locks
 * are free: the data under them may be half written, but no pointer in it is followed, because the child reports
 * nothing.
 */
#ifndef MARLINE_CHECK_LOCK_H
#define MARLINE_CHECK_LOCK_H

#include <sched.h>
#include <stdatomic.h>

typedef struct Lock {
  atomic_uint taken_in; /* lock_process of the process that holds it; 0: free */
} Lock;

/* 1 at first; in a child of fork() another number than in its parents (lock.c). */
extern unsigned lock_process;

static inline void lock_take(Lock* lock) {
  /* acquire: pairs with the release of lock_give. */
  while (atomic_exchange_explicit(&lock->taken_in, lock_process, memory_order_acquire) == lock_process) sched_yield();
}

static inline void lock_give(Lock* lock) { atomic_store_explicit(&lock->taken_in, 0, memory_order_release); }

#endif
