/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I after a suspension? omp_get_thread_num is always a slot of the current task's team, a tied task comes back
 * on its own thread, and no two tasks that run at the same time share a thread number.
 *
 * Covers: marline suspension, omp_get_thread_num
 */
#include "rendezvous.h"
#include <omp.h>
#include <pthread.h>

enum { kTasks = 60 };

static Rendezvous meetings;

static void consistent(int team) {
  CHECK_EQ(omp_get_num_threads(), team);
  CHECK_RANGE(omp_get_thread_num(), 0, team - 1);
  CHECK_EQ(omp_get_level(), 1);
  CHECK_EQ(omp_get_team_size(1), team);
  CHECK_EQ(omp_get_ancestor_thread_num(1), omp_get_thread_num());
  CHECK_EQ(omp_in_parallel(), team > 1);
}

static void tied(int self, int team) {
  pthread_t thread = pthread_self();
  int number = omp_get_thread_num();
  for (int meeting = 0; meeting < 5; meeting++) {
    consistent(team);
    rendezvous_meet(&meetings, meeting, self);
    consistent(team);
    CHECK_EQ(omp_get_thread_num(), number);
    CHECK(pthread_equal(pthread_self(), thread));
  }
}

/* ICVs are the task's: they go with it. */
static void untied(int self, int team) {
  omp_set_num_threads(100 + self);
  for (int meeting = 0; meeting < 5; meeting++) {
    rendezvous_meet(&meetings, meeting, self);
    consistent(team);
    CHECK_EQ(omp_get_max_threads(), 100 + self);
  }
}

static void numbers_are_exclusive(int team) {
  int inside[64] = {0};
#pragma omp parallel num_threads(team) shared(inside)
#pragma omp single
  for (int t = 0; t < 500; t++) {
#pragma omp task untied shared(inside)
    {
      int me = omp_get_thread_num();
      CHECK_EQ(__atomic_exchange_n(&inside[me], 1, __ATOMIC_ACQ_REL), 0);
      for (volatile int spin = 0; spin < 200; spin++) {
      }
      __atomic_store_n(&inside[me], 0, __ATOMIC_RELEASE);
#pragma omp taskyield
      consistent(team);
    }
  }
}

int main(void) {
  omp_set_dynamic(0);
  int team = omp_get_max_threads();
  for (int round = 0; round < 10; round++) {
    rendezvous_init(&meetings, kTasks);
#pragma omp parallel num_threads(team)
#pragma omp single
    for (int self = 0; self < kTasks; self++) {
#pragma omp task firstprivate(self)
      tied(self, team);
    }
    rendezvous_init(&meetings, kTasks);
#pragma omp parallel num_threads(team)
#pragma omp single
    for (int self = 0; self < kTasks; self++) {
#pragma omp task untied firstprivate(self)
      untied(self, team);
    }
    CHECK_EQ(omp_get_max_threads(), team);
    numbers_are_exclusive(team);
  }
  return 0;
}
