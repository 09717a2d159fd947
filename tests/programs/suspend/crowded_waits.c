/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads of a team wait for a post of a doacross loop, or for the turn of an ordered loop. Meanwhile the thread
 * that they wait for creates tasks, and reaches no task scheduling point until all of them have run. So a thread that
 * waits must run tasks, also where threads are more than cores and a wait yields the core before it suspends the task.
 * In half of the rounds the tasks come while the waits are young, in the others when they have lasted for long.
 *
 * Covers: for(ordered, schedule:static), ordered(depend:source/sink), task(firstprivate)
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>
#include <time.h>

enum { kRounds = 60, kTasks = 8, kLimit = 60 };

static int threads, arrived, ran;
static long order;

/* Only other threads can run the tasks: this one waits without a task scheduling point. */
static void queue_and_keep_the_thread(int late) {
  if (late) usleep(300);
  for (int k = 0; k < kTasks; k++) {
#pragma omp task firstprivate(k)
    {
      usleep(50); /* long enough that several threads take tasks */
      __atomic_fetch_add(&ran, k + 1, __ATOMIC_RELEASE);
    }
  }
  const time_t begin = time(NULL);
  while (__atomic_load_n(&ran, __ATOMIC_ACQUIRE) != kTasks * (kTasks + 1) / 2) {
    CHECK(time(NULL) - begin < kLimit);
    sched_yield();
  }
}

/* All threads are busy when the waits begin. */
static void begin_iteration(int i, int late) {
  __atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) != threads) sched_yield();
  if (i == 0) queue_and_keep_the_thread(late);
}

static void wait_for_posts(int late) {
#pragma omp for ordered(1) schedule(static, 1)
  for (int i = 0; i < threads; i++) {
    begin_iteration(i, late);
#pragma omp ordered depend(sink : i - 1)
    CHECK_EQ(order, i);
    order = i + 1;
#pragma omp ordered depend(source)
  }
}

static void wait_for_turns(int late) {
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < threads; i++) {
    begin_iteration(i, late);
#pragma omp ordered
    {
      CHECK_EQ(order, i);
      order = i + 1;
    }
  }
}

static void round_of(void (*loop)(int), int late) {
  arrived = ran = 0;
  order = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    loop(late);
  }
  CHECK_EQ(order, threads);
}

int main(void) {
  for (int r = 0; r < kRounds; r++) {
    round_of(wait_for_posts, r % 2);
    round_of(wait_for_turns, r % 2);
  }
  return 0;
}
