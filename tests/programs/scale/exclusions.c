/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks with more mutexinoutset locators than 16 bits can count exclude each other, and tasks with one of these
 * locators.
 *
 * Covers: task(firstprivate, depend:mutexinoutset/iterator), taskgroup
 */
#include "../check.h"
#include <omp.h>

enum { kMost = 200000, kSmall = 16 };

static char cells[kMost]; /* named in dependences only */
static int large_inside, small_inside, large_ran, small_ran;

static void run_large(void) {
  CHECK_EQ(__atomic_exchange_n(&large_inside, 1, __ATOMIC_RELAXED), 0);
  CHECK_EQ(__atomic_load_n(&small_inside, __ATOMIC_RELAXED), 0);
  large_ran++;
  usleep(200);
  CHECK_EQ(__atomic_load_n(&small_inside, __ATOMIC_RELAXED), 0);
  CHECK_EQ(__atomic_exchange_n(&large_inside, 0, __ATOMIC_RELAXED), 1);
}

static void run_small(void) {
  __atomic_add_fetch(&small_inside, 1, __ATOMIC_RELAXED);
  CHECK_EQ(__atomic_load_n(&large_inside, __ATOMIC_RELAXED), 0);
  __atomic_add_fetch(&small_ran, 1, __ATOMIC_RELAXED);
  usleep(20);
  CHECK_EQ(__atomic_load_n(&large_inside, __ATOMIC_RELAXED), 0);
  __atomic_sub_fetch(&small_inside, 1, __ATOMIC_RELAXED);
}

/* The cells of the small tasks are spread over the cells of the large tasks, the last cell included. */
static void create(int locators, int backwards) {
  (void)cells; /* GCC does not count a depend clause as a use */
  if (backwards) {
#pragma omp task depend(iterator(i = 0 : locators), mutexinoutset : cells[locators - 1 - i])
    run_large();
  } else {
#pragma omp task depend(iterator(i = 0 : locators), mutexinoutset : cells[i])
    run_large();
  }
  for (int t = 1; t <= kSmall; t++) {
    int cell = (int)((long)locators * t / kSmall) - 1;
#pragma omp task depend(mutexinoutset : cells[cell]) firstprivate(cell)
    run_small();
  }
}

int main(void) {
  static const int counts[] = {100, 32768, 32769, 33000, 65535, 65536, 65537, kMost};
  enum { kCounts = sizeof counts / sizeof counts[0] };
#pragma omp parallel
#pragma omp single
  for (int c = 0; c < kCounts; c++) {
#pragma omp taskgroup
    {
      create(counts[c], 0);
      create(counts[c], 1);
    }
    CHECK_EQ(large_ran, 2 * (c + 1));
    CHECK_EQ(small_ran, 2 * kSmall * (c + 1));
  }
  return 0;
}
