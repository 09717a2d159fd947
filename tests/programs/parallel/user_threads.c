/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads of the program's own, each an initial thread with its own teams, open regions at the same time: teams
 * do not mix, ICVs are per thread, `critical` is common to all of them.
 *
 * Covers: marline process, parallel(num_threads), for(schedule:dynamic, reduction), task(firstprivate), critical,
 *  omp_set_num_threads, omp_get_level
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

enum { kThreads = 4, kRounds = 60, kTasks = 30 };

static int n;
static long common;

static void one_round(int self, int team) {
  long sum = 0, tasks = 0;
  unsigned seen = 0;
#pragma omp parallel num_threads(team) shared(sum, tasks, seen)
  {
    CHECK_EQ(omp_get_num_threads(), team);
    CHECK_EQ(omp_get_level(), 1);
#pragma omp atomic
    seen |= 1u << omp_get_thread_num();
#pragma omp for schedule(dynamic, 3) reduction(+ : sum)
    for (int i = 0; i < 50; i++) sum += i * self;
#pragma omp single
    for (int t = 0; t < kTasks; t++) {
#pragma omp task shared(tasks) firstprivate(t)
      {
#pragma omp atomic
        tasks += t + self;
      }
    }
#pragma omp critical(common_counter)
    common++;
  }
  CHECK_EQ(seen, (1u << team) - 1);
  CHECK_EQ(sum, 1225L * self);
  CHECK_EQ(tasks, kTasks * (kTasks - 1) / 2 + kTasks * self);
}

static void* user_thread(void* arg) {
  int self = (int)(intptr_t)arg;
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_level(), 0);
  omp_set_num_threads(self + 3);
  for (int round = 0; round < kRounds; round++) {
    one_round(self, 1 + (self + round) % n);
    CHECK_EQ(omp_get_max_threads(), self + 3);
  }
  return NULL;
}

int main(void) {
  omp_set_dynamic(0);
  n = omp_get_max_threads();
  CHECK_RANGE(n, 1, 16);
  for (int generation = 0; generation < 3; generation++) { /* threads end and new ones take their places */
    pthread_t threads[kThreads];
    common = 0;
    for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&threads[i], NULL, user_thread, (void*)(intptr_t)i), 0);
    for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    long expected = 0;
    for (int i = 0; i < kThreads; i++)
      for (int round = 0; round < kRounds; round++) expected += 1 + (i + round) % n;
    CHECK_EQ(common, expected);
  }
  CHECK_EQ(omp_get_max_threads(), n);
  return 0;
}
