/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread forks while others use the device, with data of their own and with an array that all of them map. Whatever
 * the others were doing at that moment, a child leaves by `exit`, with the destructors of libraries; asks routines; and
 * runs a region on data that no other thread maps, or ends with the line that it has no such device. Data that another
 * thread was just mapping can be mapped by the child.
 *
 * Covers: target(map), target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define OTHERS 3
#define CHILDREN 32

static int forks_end, shared[1000];

/* Clang 16 gives back the stack that a region takes when its function returns. */
static __attribute__((noinline)) void constructs(int* own) {
#pragma omp target map(tofrom : own[0 : 100])
  own[0]++;
#pragma omp target enter data map(to : shared)
#pragma omp target exit data map(from : shared)
}

static void* use_device(void* unused) {
  int own[100] = {0}, times = 0;
  while (!__atomic_load_n(&forks_end, __ATOMIC_RELAXED)) {
    constructs(own);
    CHECK_EQ(own[0], ++times);
  }
  return unused;
}

static void region(void) {
  int x = 5;
#pragma omp target map(tofrom : x)
  x++;
  _exit(x == 6 ? 0 : 1);
}

static void routines(void) {
  int x = 0;
  (void)omp_target_is_present(&x, 0);
  void* memory = omp_target_alloc(100, 0);
  omp_target_free(memory, 0);
  _exit(0);
}

static void shared_data(void) {
#pragma omp target enter data map(to : shared)
#pragma omp target exit data map(from : shared)
  _exit(0);
}

static void child(int what) {
  alarm(100); /* rather than for ever */
  if (what == 0) exit(0);
  dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* it may end with a line */
  if (what == 1) region();
  if (what == 2) routines();
  shared_data();
}

int main(void) {
  pthread_t others[OTHERS];
  for (int i = 0; i < OTHERS; i++) CHECK_EQ(pthread_create(&others[i], NULL, use_device, NULL), 0);
  for (int i = 0; i < CHILDREN; i++) {
    int status, x = i;
#pragma omp target map(tofrom : x)
    x++;
    CHECK_EQ(x, i + 1);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) child(i % 4);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    int refused = i % 4 != 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    if (status != 0 && !refused) check_failed(__FILE__, __LINE__, "child %d, mode %d: status %#x", i, i % 4, status);
  }
  __atomic_store_n(&forks_end, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < OTHERS; i++) CHECK_EQ(pthread_join(others[i], NULL), 0);
  return 0;
}
