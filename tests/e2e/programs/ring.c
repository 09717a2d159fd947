/* SPDX-License-Identifier: Apache-2.0
 *
 * `ring ROUNDS`: a long task spins to the end; 1,000 tasks of one kind, 100,000 of another, 500 of a third; then ROUNDS
 * of ten short tasks, with a line after the first. It ends by itself, or is killed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int ended;

static __attribute__((noinline)) void spin(void) {
  for (volatile int i = 0; i < 100; ++i) {
  }
}

static __attribute__((noinline)) void long_task(void) {
#pragma omp task
  while (!ended) usleep(20000);
}

static __attribute__((noinline)) void first_tasks(void) {
  for (int i = 0; i < 1000; ++i) {
#pragma omp task
    spin();
  }
}

static __attribute__((noinline)) void middle_tasks(void) {
  for (int i = 0; i < 100000; ++i) {
#pragma omp task
    spin();
  }
}

static __attribute__((noinline)) void last_tasks(int count) {
  for (int i = 0; i < count; ++i) {
#pragma omp task
    spin();
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp taskgroup
    {
      long_task();
#pragma omp taskgroup
      {
        first_tasks();
      }
#pragma omp taskgroup
      {
        middle_tasks();
      }
#pragma omp taskgroup
      {
        last_tasks(500);
      }
      printf("pid %d\n", (int)getpid());
      fflush(stdout);
      for (int round = 0; round < rounds; ++round) {
#pragma omp taskgroup
        {
          last_tasks(10);
        }
        usleep(20000);
      }
      ended = 1;
    }
  }
  return 0;
}
