/* SPDX-License-Identifier: Apache-2.0
 *
 * Brings thread 1 into each state in which a thread can wait, and signals it until the OMPT test's tool, which is
 * preloaded, has seen it there. Each state that was seen is a line; one that never comes ends the program by SIGALRM.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

extern volatile int tool_state __attribute__((weak));
extern volatile unsigned long tool_wait __attribute__((weak));

static volatile int thread_1, ran;
static omp_lock_t lock;

static void expect(int state, const void* wait, const char* name) {
  while (__atomic_load_n(&thread_1, __ATOMIC_ACQUIRE) == 0) usleep(100);
  do {
    __atomic_store_n(&tool_state, -1, __ATOMIC_RELEASE);
    syscall(SYS_tgkill, getpid(), thread_1, SIGUSR1);
    while (__atomic_load_n(&tool_state, __ATOMIC_ACQUIRE) == -1) usleep(100);
  } while (tool_state != state || (wait != NULL && tool_wait != (unsigned long)wait));
  printf("seen name=%s\n", name);
}

static void wait_for_task(int group) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  static volatile omp_event_handle_t handle;
  static volatile int published;
  if (omp_get_thread_num() == 0) {
    while (__atomic_load_n(&published, __ATOMIC_ACQUIRE) == 0) usleep(100);
    expect(group ? 0x21 : 0x20, NULL, group ? "taskgroup" : "taskwait");
    __atomic_store_n(&published, 0, __ATOMIC_RELEASE);
    omp_fulfill_event(handle);
  } else if (group) {
#pragma omp taskgroup
    {
#pragma omp task detach(event)
      ran = 1; /* GCC drops a task without a body, with its event */
      handle = event;
      __atomic_store_n(&published, 1, __ATOMIC_RELEASE);
    }
  } else {
#pragma omp task detach(event)
    ran = 1;
    handle = event;
    __atomic_store_n(&published, 1, __ATOMIC_RELEASE);
#pragma omp taskwait
  }
#pragma omp barrier
}

static void wait_for_mutex(void) {
  static volatile int held;
  if (omp_get_thread_num() == 0) {
    omp_set_lock(&lock);
    __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
    expect(0x41, &lock, "lock");
    omp_unset_lock(&lock);
#pragma omp critical
    {
      __atomic_store_n(&held, 2, __ATOMIC_RELEASE);
      expect(0x42, NULL, "critical");
    }
  } else {
    while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) == 0) {
    }
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != 2) {
    }
#pragma omp critical
    held = 0;
  }
}

static void wait_for_turn(void) {
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 2; ++i) {
#pragma omp ordered
    {
      if (i == 0) expect(0x44, NULL, "ordered");
    }
  }
}

int main(void) {
  alarm(100);
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) thread_1 = (int)syscall(SYS_gettid);
    if (omp_get_thread_num() == 0) expect(0x14, NULL, "barrier_explicit");
#pragma omp barrier
    wait_for_task(0);
    wait_for_task(1);
    wait_for_mutex();
    wait_for_turn();
    if (omp_get_thread_num() == 0) expect(0x11, NULL, "barrier_implicit_parallel");
  }
  expect(0x100, NULL, "idle");
  puts("done");
  return 0;
}
