/* SPDX-License-Identifier: Apache-2.0
 *
 * Many dependences: thousands on one task (distinct, and all of them the same), thousands of successors of one task,
 * and address strides that a weak hash would fold onto one another.
 *
 * Covers: task(firstprivate, depend:in/out/inout/iterator)
 */
#include "../check.h"
#include <omp.h>

enum { kMany = 5000 };

static char cells[kMany];
static char* spread;

static void fan_in_and_out(void) {
  int before = 0, after = 0, joined = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int t = 0; t < kMany; t++) {
#pragma omp task depend(out : cells[t]) shared(before)
#pragma omp atomic
      before++;
    }
#pragma omp task depend(iterator(i = 0 : kMany), inout : cells[i]) shared(before, after, joined)
    {
      CHECK_EQ(before, kMany);
      CHECK_EQ(after, 0);
      joined = 1;
    }
    for (int t = 0; t < kMany; t++) {
#pragma omp task depend(in : cells[t]) shared(after, joined)
      {
        CHECK_EQ(joined, 1);
#pragma omp atomic
        after++;
      }
    }
  }
  CHECK_EQ(after, kMany);
}

/* The counter is an array: GCC 12 passes a shared scalar by value to a task that reads it and names iterators. */
static void one_address_many_times(void) {
  int x[1] = {0};
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 10; t++) {
#pragma omp task depend(iterator(i = 0 : kMany), inout : cells[i * 0]) shared(x) firstprivate(t)
    CHECK_EQ(x[0]++, t);
#pragma omp task depend(iterator(i = 0 : kMany), in : cells[i % 2]) shared(x) firstprivate(t)
    CHECK_EQ(x[0], t + 1);
  }
}

static void one_predecessor_many_successors(void) {
  int ready = 0, ran = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : ready) shared(ready)
    {
      usleep(2000);
      ready = 1;
    }
    for (int t = 0; t < kMany; t++) {
#pragma omp task depend(in : ready) shared(ready, ran)
      {
        CHECK_EQ(ready, 1);
#pragma omp atomic
        ran++;
      }
    }
#pragma omp task depend(out : ready) shared(ran)
    CHECK_EQ(ran, kMany);
  }
}

/* Addresses in strides of large powers of two: rows of matrices, pages, huge pages. */
static void strides(void) {
  for (int shift = 3; shift <= 14; shift++) {
    int counts[512] = {0};
#pragma omp parallel
#pragma omp single
    for (int t = 0; t < 3 * 512; t++) {
      int cell = t % 512, turn = t / 512;
#pragma omp task depend(inout : spread[(long)cell << shift]) firstprivate(cell, turn) shared(counts)
      CHECK_EQ(counts[cell]++, turn);
    }
  }
}

int main(void) {
  spread = malloc(512L << 14);
  CHECK(spread != NULL);
  for (int round = 0; round < 3; round++) {
    fan_in_and_out();
    one_address_many_times();
    one_predecessor_many_successors();
    strides();
  }
  free(spread);
  return 0;
}
