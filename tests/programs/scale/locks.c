/* SPDX-License-Identifier: Apache-2.0
 *
 * Many locks, and many tasks that wait for locks: a million locks of each kind that are initialised, used by tasks
 * and destroyed; a tenth as many tasks that wait for one lock, and for a lock each. The tasks are suspended, and what
 * a release costs must not depend on how many others wait. Usage: locks LOCKS
 *
 * Covers: omp_init_lock, omp_set_lock, omp_unset_lock, omp_test_lock, omp_destroy_lock, omp_init_nest_lock,
 *  omp_set_nest_lock, omp_unset_nest_lock, omp_destroy_nest_lock, taskloop(grainsize)
 */
#include "../resident.h"
#include <omp.h>

enum { kSlackKiB = 64 * 1024 };

static void use_all(long locks, omp_lock_t* lock, omp_nest_lock_t* nest_lock) {
  long taken = 0, depths = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1000) shared(taken, depths)
  for (long i = 0; i < locks; i++) {
    omp_init_lock(&lock[i]);
    omp_init_nest_lock(&nest_lock[i]);
    int twice;
    omp_set_lock(&lock[i]);
    twice = omp_test_lock(&lock[i]);
    omp_unset_lock(&lock[i]);
    omp_set_nest_lock(&nest_lock[i]);
    int depth = omp_test_nest_lock(&nest_lock[i]);
    omp_unset_nest_lock(&nest_lock[i]);
    omp_unset_nest_lock(&nest_lock[i]);
#pragma omp atomic
    taken += 1 - twice;
#pragma omp atomic
    depths += depth;
  }
  CHECK_EQ(taken, locks);
  CHECK_EQ(depths, 2 * locks);
#pragma omp parallel for
  for (long i = 0; i < locks; i++) {
    omp_destroy_lock(&lock[i]);
    omp_destroy_nest_lock(&nest_lock[i]);
  }
}

static void come_and_go(long locks) {
  omp_lock_t* lock = malloc((size_t)locks * sizeof *lock);
  omp_nest_lock_t* nest_lock = malloc((size_t)locks * sizeof *nest_lock);
  CHECK(lock != NULL && nest_lock != NULL);
  use_all(locks, lock, nest_lock);
  use_all(locks, lock, nest_lock);
  free(lock);
  free(nest_lock);
}

/* Tasks 0 .. tasks - 1 wait for lock[i % locks], which the creator has. */
static void wait_for_locks(int tasks, int locks, omp_lock_t* lock) {
  int started = 0, passed = 0;
  long inside = 0;
#pragma omp parallel shared(started, passed, inside)
#pragma omp single
  {
    for (int i = 0; i < locks; i++) omp_set_lock(&lock[i]);
    for (int i = 0; i < tasks; i++) {
#pragma omp task firstprivate(i)
      {
        __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED);
        omp_set_lock(&lock[i % locks]);
        if (locks == 1) inside++; /* the lock protects it */
        __atomic_add_fetch(&passed, 1, __ATOMIC_RELAXED);
        omp_unset_lock(&lock[i % locks]);
      }
    }
    while (__atomic_load_n(&started, __ATOMIC_RELAXED) < tasks) {
#pragma omp taskyield
    }
    CHECK_EQ(__atomic_load_n(&passed, __ATOMIC_RELAXED), 0);
    for (int i = 0; i < locks; i++) omp_unset_lock(&lock[i]);
  }
  CHECK_EQ(passed, tasks);
  CHECK_EQ(inside, locks == 1 ? tasks : 0);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  long locks = atol(argv[1]);
  int waiters = (int)(locks / 10);
  omp_lock_t* lock = malloc((size_t)waiters * sizeof *lock);
  CHECK(lock != NULL);
  for (int i = 0; i < waiters; i++) omp_init_lock(&lock[i]);
  long before = resident_kib();
  come_and_go(locks);
  expect_back(before, kSlackKiB, "after locks that came and went");
  wait_for_locks(waiters, 1, lock);
  wait_for_locks(waiters, waiters, lock);
  expect_back(before, 4 * kSlackKiB, "after tasks that waited");
  for (int i = 0; i < waiters; i++) omp_destroy_lock(&lock[i]);
  free(lock);
  return 0;
}
