/* SPDX-License-Identifier: Apache-2.0
 *
 * Many threads of the program's own: one after the other, each asks OpenMP something and opens a region of its own; and
 * some hundred at a time, each with a region that is open while all others are. Nothing remains of them. Usage:
 * user_threads THREADS AT_A_TIME
 *
 * Covers: marline process, parallel(num_threads), task
 */
#include "../resident.h"
#include <omp.h>
#include <pthread.h>

enum { kGrowthKiB = 8192, kPerRegion = 100 };

static pthread_barrier_t all_open;
static pthread_attr_t small;

/* Every hundredth opens a region of two threads, the others one of their own alone, with a task. */
static void* live(void* argument) {
  int members = 0, ran = 0, threads = (long)argument % kPerRegion == 0 ? 2 : 1;
  CHECK_EQ(omp_get_level(), 0);
#pragma omp parallel num_threads(threads) shared(members, ran)
  {
#pragma omp atomic
    members++;
#pragma omp single
#pragma omp task shared(ran)
    ran = 1;
  }
  CHECK_EQ(members, threads);
  CHECK_EQ(ran, 1);
  return argument;
}

static void one_by_one(long threads) {
  for (long i = 0; i < threads; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, &small, live, (void*)i), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
}

static void* live_together(void* argument) {
  int members = 0;
#pragma omp parallel num_threads(2) shared(members)
  {
#pragma omp master
    pthread_barrier_wait(&all_open);
#pragma omp atomic
    members++;
  }
  CHECK_EQ(members, 2);
  return argument;
}

static void together(int threads) {
  pthread_t* thread = malloc((size_t)threads * sizeof *thread);
  CHECK(thread != NULL);
  CHECK_EQ(pthread_barrier_init(&all_open, NULL, (unsigned)threads), 0);
  for (int i = 0; i < threads; i++) CHECK_EQ(pthread_create(&thread[i], &small, live_together, NULL), 0);
  for (int i = 0; i < threads; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  pthread_barrier_destroy(&all_open);
  free(thread);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 3);
  long threads = atol(argv[1]);
  int at_a_time = atoi(argv[2]);
  omp_set_dynamic(0);
  CHECK_EQ(pthread_attr_init(&small), 0);
  CHECK_EQ(pthread_attr_setstacksize(&small, 128 << 10), 0);
  one_by_one(threads / 10);
  long before = resident_kib();
  one_by_one(threads);
  expect_growth_below(before, kGrowthKiB);
  together(at_a_time);
  before = resident_kib();
  for (int round = 0; round < 3; round++) together(at_a_time);
  expect_growth_below(before, kGrowthKiB);
  one_by_one(threads / 10);
  return 0;
}
