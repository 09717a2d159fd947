/* SPDX-License-Identifier: Apache-2.0
 *
 * A log of who ran when, and a gate: what the programs about the order of tasks share.
 */
#ifndef LOCALITY_LOG_H
#define LOCALITY_LOG_H

#include <sched.h>

enum { LOG_SIZE = 4096 };
static int log_entries[LOG_SIZE];
static int log_count;

static inline void log_add(int entry) { log_entries[__atomic_fetch_add(&log_count, 1, __ATOMIC_RELAXED)] = entry; }

/* Waits without a task scheduling point. */
static inline void wait_until(const int* word, int value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) sched_yield();
}

static inline void count_up(int* word) { __atomic_fetch_add(word, 1, __ATOMIC_RELEASE); }

#endif
