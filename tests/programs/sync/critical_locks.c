/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutual exclusion: critical (unnamed, named, nested with different names), simple and nestable locks, with hints,
 * tested, and owned by tasks.
 *
 * Covers: critical(hint), omp_init_lock, omp_destroy_lock, omp_set_lock, omp_unset_lock, omp_test_lock,
 *  omp_init_nest_lock, omp_destroy_nest_lock, omp_set_nest_lock, omp_unset_nest_lock, omp_test_nest_lock
 * Covers (clang): omp_init_lock_with_hint, omp_init_nest_lock_with_hint
 */
#include "../check.h"
#include <omp.h>

enum { kRounds = 300 };

#ifndef __clang__ /* libgomp 12 has no locks with hints: GCC programs cannot ask for them */
#define omp_init_lock_with_hint(lock, hint) omp_init_lock(lock)
#define omp_init_nest_lock_with_hint(lock, hint) omp_init_nest_lock(lock)
#endif

static volatile int inside;

static void exclusive(long* counter) {
  CHECK_EQ(__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED), 0);
  (*counter)++;
  CHECK_EQ(__atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED), 1);
}

static void criticals(int n) {
  long plain = 0, a = 0, b = 0, both = 0, hinted = 0;
#pragma omp parallel
  for (int r = 0; r < kRounds; r++) {
#pragma omp critical
    exclusive(&plain);
#pragma omp critical(first)
    {
      a++;
#pragma omp critical(second)
      {
        b++;
#pragma omp critical
        both++;
      }
    }
#pragma omp critical(hinted) hint(omp_sync_hint_contended)
    hinted++;
  }
  CHECK_EQ(plain, n * kRounds);
  CHECK_EQ(a, n * kRounds);
  CHECK_EQ(b, n * kRounds);
  CHECK_EQ(both, n * kRounds);
  CHECK_EQ(hinted, n * kRounds);
}

static void simple_locks(int n, omp_sync_hint_t hint) {
  omp_lock_t lock;
  if (hint == omp_sync_hint_none)
    omp_init_lock(&lock);
  else
    omp_init_lock_with_hint(&lock, hint);
  long counter = 0, failed = 0;
#pragma omp parallel reduction(+ : failed)
  for (int r = 0; r < kRounds; r++) {
    if (r % 2 == 0) {
      omp_set_lock(&lock);
    } else {
      while (!omp_test_lock(&lock)) failed++;
    }
    exclusive(&counter);
    omp_unset_lock(&lock);
  }
  CHECK_EQ(counter, n * kRounds);
  CHECK(failed >= 0);
  omp_set_lock(&lock);
  int taken = -1;
#pragma omp parallel num_threads(2) shared(taken)
  {
    if (omp_get_thread_num() == 1 || omp_get_num_threads() == 1) taken = omp_test_lock(&lock);
  }
  CHECK_EQ(taken, 0);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
}

static void nest_locks(int n, omp_sync_hint_t hint) {
  omp_nest_lock_t lock;
  if (hint == omp_sync_hint_none)
    omp_init_nest_lock(&lock);
  else
    omp_init_nest_lock_with_hint(&lock, hint);
  long counter = 0;
#pragma omp parallel
  for (int r = 0; r < kRounds; r++) {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    CHECK_EQ(omp_test_nest_lock(&lock), 3);
    exclusive(&counter);
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    exclusive(&counter);
    omp_unset_nest_lock(&lock);
  }
  CHECK_EQ(counter, 2 * n * kRounds);
  omp_destroy_nest_lock(&lock);
}

/* A nestable lock belongs to the task, not to the thread (OpenMP 5.1, 3.9). */
static void locks_of_tasks(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  long counter = 0, named = 0;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 200; t++) {
#pragma omp task shared(counter, named, lock)
    {
      omp_set_nest_lock(&lock);
      CHECK_EQ(omp_test_nest_lock(&lock), 2);
      counter++;
      omp_unset_nest_lock(&lock);
      omp_unset_nest_lock(&lock);
#pragma omp critical(tasks)
      named++;
    }
  }
  CHECK_EQ(counter, 200);
  CHECK_EQ(named, 200);
  omp_destroy_nest_lock(&lock);
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  const omp_sync_hint_t hints[] = {omp_sync_hint_none, omp_sync_hint_contended, omp_sync_hint_uncontended,
                                   omp_sync_hint_speculative, omp_sync_hint_nonspeculative};
  criticals(n);
  for (unsigned h = 0; h < sizeof hints / sizeof *hints; h++) {
    simple_locks(n, hints[h]);
    nest_locks(n, hints[h]);
  }
  locks_of_tasks();
  return 0;
}
