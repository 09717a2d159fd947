/* SPDX-License-Identifier: Apache-2.0
 *
 * taskloop: every iteration once, the number and size of tasks that grainsize and num_tasks ask for, 64-bit and
 * unsigned bounds, nogroup, collapse, lastprivate, if, final, reductions (OpenMP 5.1, 2.12.2).
 *
 * Covers: parallel(shared), task(shared), taskloop(if, final, untied, mergeable, priority, grainsize, num_tasks,
 *  collapse, nogroup, firstprivate, lastprivate, shared, reduction, in_reduction), taskgroup(task_reduction),
 *  omp_in_final
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

enum { kTrip = 200 };

static int hits[kTrip];

static void all_once(void) {
  for (int i = 0; i < kTrip; i++) {
    CHECK_EQ(hits[i], 1);
    hits[i] = 0;
  }
}

/* A private variable starts anew in each task: its first use marks a chunk. */
static void sizes(int grain, int tasks) {
  static int starts[kTrip];
  int chunks = 0, shortest = kTrip, longest = 0;
#pragma omp parallel
#pragma omp single
  {
    int previous = -2;
    if (grain > 0) {
#pragma omp taskloop grainsize(grain) firstprivate(previous)
      for (int i = 0; i < kTrip; i++) {
        starts[i] = previous != i - 1;
        previous = i;
        hits[i]++;
      }
    } else {
#pragma omp taskloop num_tasks(tasks) firstprivate(previous)
      for (int i = 0; i < kTrip; i++) {
        starts[i] = previous != i - 1;
        previous = i;
        hits[i]++;
      }
    }
  }
  all_once();
  for (int i = 0, length = 1; i < kTrip; i++, length++) {
    chunks += starts[i];
    if (i == kTrip - 1 || starts[i + 1]) {
      shortest = length < shortest ? length : shortest;
      longest = length > longest ? length : longest;
      length = 0;
    }
  }
  if (grain > 0) {
    CHECK(shortest >= (grain < kTrip ? grain : kTrip));
    CHECK(longest < 2 * grain || chunks == 1);
  } else {
    CHECK_EQ(chunks, tasks < kTrip ? tasks : kTrip);
    CHECK(longest - shortest <= 1);
  }
}

#define SUMS(type, init, test, step)                                                 \
  do {                                                                               \
    uint64_t expected = 0, sum = 0, count = 0, n = 0;                                \
    for (type i = init; test; step) expected += (uint64_t)i * 3 + 1, n++;            \
    _Pragma("omp parallel") _Pragma("omp single")                                    \
        _Pragma("omp taskloop shared(sum, count)") for (type i = init; test; step) { \
      _Pragma("omp atomic") sum += (uint64_t)i * 3 + 1;                              \
      _Pragma("omp atomic") count++;                                                 \
    }                                                                                \
    CHECK_EQ(count, n);                                                              \
    CHECK_EQ(sum, expected);                                                         \
  } while (0)

static void bounds(void) {
  SUMS(int, 0, i < 100, i++);
  SUMS(int, 5, i < 5, i++);
  SUMS(int, 100, i > -100, i -= 7);
  SUMS(unsigned, 3, i < 4000000000u, i += 100000001u);
  SUMS(int64_t, INT64_MIN + 500, i > INT64_MIN + 7, i -= 6);
  SUMS(int64_t, 1LL << 40, i < (1LL << 40) + 1000, i += 9);
  SUMS(uint64_t, UINT64_MAX - 1000, i < UINT64_MAX - 7, i += 6);
  SUMS(uint64_t, (1ULL << 63) + 500, i > (1ULL << 63) - 500, i -= 11);
}

static void clauses(void) {
  long last = -1, inner = 0, cells = 0, ran = 0;
#pragma omp parallel shared(cells, ran, inner, last)
#pragma omp single
  {
#pragma omp taskloop lastprivate(last) num_tasks(7)
    for (int i = 0; i < kTrip; i++) last = i;
    CHECK_EQ(last, kTrip - 1);
#pragma omp taskloop collapse(2) grainsize(4) shared(cells)
    for (int i = 0; i < 10; i++)
      for (int j = 5; j > 0; j--)
#pragma omp atomic
        cells += i * j;
    CHECK_EQ(cells, 45 * 15);
#pragma omp taskloop if (0) shared(ran)
    for (int i = 0; i < 10; i++)
#pragma omp atomic
      ran++;
    CHECK_EQ(ran, 10);
#pragma omp taskloop final(1) untied mergeable priority(3) shared(inner)
    for (int i = 0; i < 10; i++) {
      CHECK_EQ(omp_in_final(), 1);
#pragma omp task shared(inner)
#pragma omp atomic
      inner++;
    }
    CHECK_EQ(inner, 10);
  }
}

/* Without nogroup the taskloop waits for what its tasks create; with it, only a later wait does. */
static void groups(void) {
  int descendants = 0;
#pragma omp parallel shared(descendants)
#pragma omp single
  {
#pragma omp taskloop shared(descendants) grainsize(2)
    for (int i = 0; i < 40; i++) {
#pragma omp task shared(descendants)
      {
        usleep(5);
#pragma omp atomic
        descendants++;
      }
    }
    CHECK_EQ(descendants, 40);
#pragma omp taskloop nogroup shared(descendants) num_tasks(10)
    for (int i = 0; i < 40; i++)
#pragma omp atomic
      descendants++;
#pragma omp taskwait
    CHECK_EQ(descendants, 80);
  }
}

static void reductions(void) {
  long sum = 100, max = -1;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop reduction(+ : sum) reduction(max : max) grainsize(3)
    for (int i = 0; i < kTrip; i++) {
      sum += i;
      max = i > max ? i : max;
    }
#pragma omp taskgroup task_reduction(+ : sum)
    {
#pragma omp taskloop in_reduction(+ : sum) num_tasks(6)
      for (int i = 0; i < kTrip; i++) sum += 1;
    }
  }
  CHECK_EQ(sum, 100 + kTrip * (kTrip - 1) / 2 + kTrip);
  CHECK_EQ(max, kTrip - 1);
}

int main(void) {
  for (int k = 1; k < 250; k = k * 2 + 1) {
    sizes(k, 0);
    sizes(0, k);
  }
  for (int round = 0; round < 10; round++) {
    bounds();
    clauses();
    groups();
    reductions();
  }
  return 0;
}
