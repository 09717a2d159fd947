/* SPDX-License-Identifier: Apache-2.0
 *
 * Merge sort of 2^15 integers, a task per half down to 32 elements: recursion whose tasks do a little real work on
 * shared memory. Figure: `sort`, wall time per task (2,046 tasks; it includes their work, which is the same under every
 * runtime). Halves are disjoint; a merge follows its taskwait.
 */
#include "bench.h"

enum { kLength = 1 << 15, kLeaf = 32, kTasks = 2 * (kLength / kLeaf) - 2 };

static unsigned source[kLength], values[kLength], scratch[kLength];
static unsigned source_sum;

static void fill(void) {
  unsigned state = 1;
  for (int i = 0; i < kLength; ++i) {
    state = state * 1664525u + 1013904223u; /* the linear congruential generator of Numerical Recipes, 2nd ed., 7.1 */
    source[i] = state >> 8;
    source_sum += source[i];
  }
}

static void insertion_sort(unsigned* a, int n) {
  for (int i = 1; i < n; ++i) {
    unsigned x = a[i];
    int j = i;
    for (; j > 0 && a[j - 1] > x; --j) a[j] = a[j - 1];
    a[j] = x;
  }
}

static void merge(unsigned* a, unsigned* t, int n) {
  int i = 0, j = n / 2;
  for (int k = 0; k < n; ++k) t[k] = j == n || (i < n / 2 && a[i] <= a[j]) ? a[i++] : a[j++];
  memcpy(a, t, (size_t)n * sizeof a[0]);
}

static void sort(unsigned* a, unsigned* t, int n) {
  if (n <= kLeaf) {
    insertion_sort(a, n);
    return;
  }
  int half = n / 2;
#pragma omp task firstprivate(a, t, half)
  sort(a, t, half);
#pragma omp task firstprivate(a, t, half)
  sort(a + half, t + half, half);
#pragma omp taskwait
  merge(a, t, n);
}

static void run(long rounds) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds; ++i) {
    memcpy(values, source, sizeof values);
    sort(values, scratch, kLength);
  }
}

static int check(long rounds) {
  (void)rounds;
  unsigned sum = values[0];
  for (int i = 1; i < kLength; ++i) {
    if (values[i - 1] > values[i]) return 0;
    sum += values[i];
  }
  return sum == source_sum;
}

int main(int argc, char** argv) {
  fill();
  static const struct BenchFigure figures[] = {{"sort", "ns", kTasks, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
