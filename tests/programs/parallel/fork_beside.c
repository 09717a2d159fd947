/* SPDX-License-Identifier: Apache-2.0
 *
 * fork() while other threads of the program open regions, tasks in them, and end: whatever the runtime was doing in
 * these threads, a child can open regions of its own. And in a critical section for which another thread waits, which
 * the child has not.
 *
 * Covers: marline process, parallel(num_threads), task
 */
#include "../forked.h"
#include <omp.h>
#include <pthread.h>

enum { kForks = 60, kOthers = 2, kSeconds = 100 };

static int over;

static void region(int threads) {
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    members++;
#pragma omp single
#pragma omp task
    members += 0;
  }
  CHECK_EQ(members, threads);
}

static void* open_and_end(void* argument) {
  region(2);
  region(3);
  return argument;
}

static void* keep_opening(void* argument) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, open_and_end, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  return argument;
}

static void* in_new_thread(void* argument) {
  region(3);
  return argument;
}

static void leave_a_waiter_behind(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      pid_t child;
#pragma omp critical
      {
        usleep(20000); /* the other one waits, for long enough to be handed the section */
        child = fork();
      }
      if (child == 0) {
        alarm(kSeconds);
#pragma omp critical
        child = -1;
        _exit(child != -1);
      }
      expect_exit(child, 0);
    } else {
      usleep(5000);
#pragma omp critical
      usleep(1);
    }
  }
}

int main(void) {
  pthread_t others[kOthers], thread;
  omp_set_dynamic(0);
  region(2);
  leave_a_waiter_behind();
  for (int i = 0; i < kOthers; i++) CHECK_EQ(pthread_create(&others[i], NULL, keep_opening, NULL), 0);
  for (int i = 0; i < kForks; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(kSeconds); /* a child that hangs ends by a signal */
      region(2);
      CHECK_EQ(pthread_create(&thread, NULL, in_new_thread, NULL), 0);
      CHECK_EQ(pthread_join(thread, NULL), 0);
      _exit(0);
    }
    expect_exit(child, 0);
  }
  __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < kOthers; i++) CHECK_EQ(pthread_join(others[i], NULL), 0);
  return 0;
}
