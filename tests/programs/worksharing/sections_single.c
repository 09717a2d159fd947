/* SPDX-License-Identifier: Apache-2.0
 *
 * sections (each once; lastprivate, reduction), single (exactly one thread; copyprivate), master and, where the
 * compiler knows it, masked with a filter.
 *
 * Covers: parallel sections, sections(lastprivate), section, single(copyprivate), master, masked(filter)
 */
#include "../check.h"
#include <omp.h>

static int sections_of(int from) {
  int hits[6] = {0}, last = -1;
#pragma omp parallel sections lastprivate(last)
  {
#pragma omp section
    hits[0]++, last = from;
#pragma omp section
    hits[1]++, last = from + 1;
#pragma omp section
    hits[2]++, last = from + 2;
#pragma omp section
    hits[3]++, last = from + 3;
#pragma omp section
    hits[4]++, last = from + 4;
#pragma omp section
    hits[5]++, last = from + 5;
  }
  for (int i = 0; i < 6; i++) CHECK_EQ(hits[i], 1);
  return last;
}

typedef struct {
  double values[100];
} Block;

static void single_copyprivate(int rounds) {
  int executed = 0;
#pragma omp parallel
  {
    int value = -1;
    Block block = {{0}};
    int* pointer = NULL;
    for (int r = 0; r < rounds; r++) {
#pragma omp single copyprivate(value, block, pointer)
      {
        value = r * 7;
        block.values[99] = r + 0.5;
        pointer = &executed;
        executed++;
      }
      CHECK_EQ(value, r * 7);
      CHECK_NEAR(block.values[99], r + 0.5, 0);
      CHECK(pointer == &executed);
    }
  }
  CHECK_EQ(executed, rounds);
}

static void single_has_a_barrier(int rounds) {
  int stage = 0;
#pragma omp parallel
  for (int r = 0; r < rounds; r++) {
    CHECK_EQ(stage, r);
#pragma omp barrier
#pragma omp single
    stage = r + 1;
  }
  CHECK_EQ(stage, rounds);
}

static void masters(void) {
  int masters = 0, filtered = 0, n = omp_get_max_threads();
#pragma omp parallel
  {
#pragma omp master
    {
      CHECK_EQ(omp_get_thread_num(), 0);
      masters++;
    }
#pragma omp barrier
#ifdef HAVE_MASKED
#pragma omp masked filter(n - 1)
    {
      CHECK_EQ(omp_get_thread_num(), n - 1);
      filtered++;
    }
#pragma omp masked filter(n)
    filtered += 100; /* no such thread: the block does not run */
#else
    if (omp_get_thread_num() == n - 1) filtered++;
#endif
  }
  CHECK_EQ(masters, 1);
  CHECK_EQ(filtered, 1);
}

int main(void) {
  for (int round = 0; round < 50; round++) {
    CHECK_EQ(sections_of(round), round + 5);
    masters();
  }
  single_copyprivate(100);
  single_has_a_barrier(100);
  return 0;
}
