/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP inside a region on a device: nested parallel regions, worksharing, tasks with dependences, locks, critical
 * sections and atomics, on the device's own team.
 *
 * Covers (gcc, clang19): target(thread_limit)
 * Covers: parallel(num_threads), for,
 *  sections, single, task(depend:in/out/inout), taskgroup, taskloop, critical,
 *  atomic, barrier, omp_get_level, omp_init_lock
 */
#include "../device.h"

#define N 200

static void worksharing(void) {
  int counts[6] = {0}, array[N] = {0}, levels[2] = {-1, -1};
#pragma omp target map(tofrom : counts, array, levels)
  {
    levels[0] = omp_get_level();
#pragma omp parallel num_threads(3)
    {
#pragma omp single
      {
        levels[1] = omp_get_level();
        counts[0]++;
      }
#pragma omp for schedule(dynamic, 3)
      for (int i = 0; i < N; i++) array[i] += i;
#pragma omp for ordered
      for (int i = 0; i < N; i++) {
#pragma omp ordered
        counts[1] = counts[1] == i ? i + 1 : -N;
      }
#pragma omp sections
      {
#pragma omp section
#pragma omp atomic
        counts[2]++;
#pragma omp section
#pragma omp atomic
        counts[2]++;
      }
#pragma omp critical
      counts[3] += 1;
#pragma omp barrier
#pragma omp master
      counts[4] = counts[3] == omp_get_num_threads();
    }
    counts[5] = omp_get_num_threads();
  }
  CHECK_EQ(levels[0], 0);
  CHECK_EQ(levels[1], 1);
  CHECK_EQ(counts[0], 1);
  CHECK_EQ(counts[1], N);
  CHECK_EQ(counts[2], 2);
  CHECK_EQ(counts[4], 1);
  CHECK_EQ(counts[5], 1);
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], i);
}

static void tasks(void) {
  int chain = 0, wrong = 0, done = 0, loop[N] = {0}, fibonacci[20] = {0, 1};
#pragma omp target map(tofrom : chain, wrong, done, loop, fibonacci)
  {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
      for (int i = 0; i < 30; i++) {
#pragma omp task depend(inout : chain) firstprivate(i) shared(chain, wrong)
        {
          wrong += chain != i;
          chain++;
        }
      }
      for (int i = 2; i < 20; i++) {
#pragma omp task depend(in : fibonacci[i - 1], fibonacci[i - 2]) depend(out : fibonacci[i]) firstprivate(i)
        fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
      }
#pragma omp taskgroup
      {
        for (int i = 0; i < 10; i++) {
#pragma omp task shared(done)
#pragma omp atomic
          done++;
        }
      }
      wrong += done != 10;
#pragma omp taskloop grainsize(7) shared(loop)
      for (int i = 0; i < N; i++) loop[i] = i;
#pragma omp taskwait
      wrong += chain != 30;
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(chain, 30);
  CHECK_EQ(fibonacci[19], 4181);
  for (int i = 0; i < N; i++) CHECK_EQ(loop[i], i);
}

static void nested(void) {
  int threads = 0, locked = 0, captured = 0;
#pragma omp target map(tofrom : threads, locked, captured)
  {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
      {
#pragma omp atomic
        threads++;
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
        int old;
#pragma omp atomic capture
        old = captured++;
        if (old < 0) captured = -100;
      }
    }
    omp_destroy_lock(&lock);
  }
  CHECK_RANGE(threads, 1, 4);
  CHECK_EQ(locked, threads);
  CHECK_EQ(captured, threads);
}

/* Regions from every thread of a team at once. */
static void from_a_team(void) {
  int sums[16] = {0}, threads = 0;
#pragma omp parallel shared(sums, threads)
  {
    int mine = omp_get_thread_num(), sum = 0;
#pragma omp target map(tofrom : sum)
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (int i = 0; i < N; i++) sum += i + mine;
    sums[mine % 16] = sum;
#pragma omp single
    threads = omp_get_num_threads();
  }
  for (int t = 0; t < threads && t < 16; t++) CHECK_EQ(sums[t], N * (N - 1) / 2 + N * t);
}

#if !defined(__clang__) || __clang_major__ >= 19
static void limited(void) {
  int threads = 0;
#pragma omp target thread_limit(2) map(tofrom : threads)
#pragma omp parallel num_threads(8)
#pragma omp atomic
  threads++;
  CHECK_RANGE(threads, 1, 2);
}
#endif

int main(void) {
  worksharing();
  tasks();
  nested();
  from_a_team();
#if !defined(__clang__) || __clang_major__ >= 19
  limited();
#endif
  return 0;
}
