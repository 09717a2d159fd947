/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions of several threads of the program's own and of nested levels at the same time, some of which are cancelled:
 * none is cancelled with another, and all teams are whole afterwards.
 *
 * Covers: cancel(parallel, for, taskgroup), marline process
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

enum { kUsers = 3, kRounds = 40 };

static int on, threads;

/* Every second one is cancelled, by one of its members. */
static void innermost(int round) {
  int members = 0, after = 0;
  int cancels = on && round % 2;
#pragma omp parallel num_threads(2) shared(members, after)
  {
#pragma omp atomic
    members++;
    if (cancels && omp_get_thread_num() == round / 2 % omp_get_num_threads()) {
#pragma omp cancel parallel
    }
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 6; i++) {
#pragma omp ordered
      members += 0;
    }
#pragma omp barrier
#pragma omp atomic
    after++;
  }
  CHECK_RANGE(members, 1, 2);
  CHECK_EQ(after, cancels ? 0 : members);
}

static void loop_of(int round) {
  int done = 0;
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 32; i++) {
    if (on && round % 3 == 0 && i == 8) {
#pragma omp cancel for
    }
#pragma omp cancellation point for
    done++;
  }
  CHECK_RANGE(done, 0, 32);
}

static void tasks_of(int round) {
  int ran = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(ran) firstprivate(i)
      {
        if (round % 4 == 1 && i == 10) {
#pragma omp cancel taskgroup
        }
#pragma omp atomic
        ran++;
      }
    }
  }
  CHECK_RANGE(ran, 0, 20);
  if (!on) /* else another thread may have cancelled the region with its tasks by now */
    CHECK_EQ(ran, 20);
}

static void* user(void* argument) {
  int self = (int)(intptr_t)argument;
  omp_set_max_active_levels(2);
  for (int round = 0; round < kRounds; round++) {
    int members = 0;
#pragma omp parallel num_threads(threads) shared(members)
    {
#pragma omp atomic
      members++;
      innermost(round + self + omp_get_thread_num());
      loop_of(round + self);
      tasks_of(round + omp_get_thread_num());
      innermost(round + omp_get_thread_num());
      if (on && (round + self) % 5 == 0 && omp_get_thread_num() == round % threads) {
#pragma omp cancel parallel
      }
      loop_of(1);
    }
    CHECK_EQ(members, threads);
  }
  return NULL;
}

int main(void) {
  on = omp_get_cancellation();
  threads = omp_get_max_threads();
  omp_set_dynamic(0);
  pthread_t thread[kUsers];
  for (int i = 0; i < kUsers; i++) CHECK_EQ(pthread_create(&thread[i], NULL, user, (void*)(intptr_t)i), 0);
  user((void*)(intptr_t)kUsers);
  for (int i = 0; i < kUsers; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  return 0;
}
