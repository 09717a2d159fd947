/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that yield until another task, created after them, sets a flag. Legal code hangs where taskyield does nothing,
 * or stacks the other task over the one that waits for it: yield must really switch. Usage: yield_flag SPINNERS
 *
 * Covers: taskyield, task(untied)
 */
#include "../check.h"
#include <omp.h>

static int flag, spinners_done;

static void spin(void) {
  for (;;) {
    int seen;
#pragma omp atomic read
    seen = flag;
    if (seen) break;
#pragma omp taskyield
  }
#pragma omp atomic
  spinners_done++;
}

static void wait_for_a_flag(int spinners, int untied) {
  flag = spinners_done = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int s = 0; s < spinners; s++) {
      if (untied) {
#pragma omp task untied
        spin();
      } else {
#pragma omp task
        spin();
      }
    }
#pragma omp task
    {
#pragma omp atomic write
      flag = 1;
    }
  }
  CHECK_EQ(spinners_done, spinners);
}

/* Each spinner waits for the next one created: the worst order for a stack. */
static void wait_for_one_another(int spinners) {
  int* turn = calloc((size_t)spinners + 1, sizeof *turn);
#pragma omp parallel
#pragma omp single
  for (int s = 0; s < spinners; s++) {
#pragma omp task firstprivate(s, turn)
    {
      if (s == spinners - 1) __atomic_store_n(&turn[s + 1], 1, __ATOMIC_RELEASE);
      while (!__atomic_load_n(&turn[s + 1], __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
      }
      __atomic_store_n(&turn[s], 1, __ATOMIC_RELEASE);
    }
  }
  CHECK_EQ(turn[0], 1);
  free(turn);
}

/* The creator itself yields until its task has run. */
static void creator_yields(void) {
  int ran = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(ran)
    __atomic_store_n(&ran, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&ran, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
    }
  }
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  int spinners = atoi(argv[1]);
  for (int round = 0; round < 10; round++) {
    wait_for_a_flag(spinners, 0);
    wait_for_a_flag(spinners, 1);
    wait_for_one_another(spinners);
    creator_yields();
  }
  return 0;
}
