/* SPDX-License-Identifier: Apache-2.0
 *
 * A process in which threads have started and ended, and its child process with two threads of its own: both print
 * their process numbers, and wait to be killed.
 */
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int nothing;

static void wait_for_ever(const char* who) {
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      printf("%s %d\n", who, (int)getpid());
      fflush(stdout);
      pause();
    }
  }
}

int main(void) {
#pragma omp parallel num_threads(4)
  nothing = 1;
  if (fork() == 0) wait_for_ever("child");
  wait_for_ever("parent");
  return 0;
}
