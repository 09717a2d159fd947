/* SPDX-License-Identifier: Apache-2.0
 *
 * Clauses that OpenMP 5.0 gave worksharing loops: scans, conditional lastprivate, modifiers of schedules, order, and
 * the loop construct.
 *
 * Covers: scan(inclusive, exclusive), for(reduction:inscan, schedule:monotonic/nonmonotonic, order)
 * Covers (gcc): for(lastprivate:conditional)
 * Covers (gcc, clang19): loop(bind, collapse, lastprivate, order, private, reduction)
 */
#include "../check.h"
#include <omp.h>

enum { kLength = 1000 };

static int values[kLength], before[kLength], through[kLength];

static void scans(void) {
  int sum = 0, expected = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < kLength; i++) {
    sum += values[i];
#pragma omp scan inclusive(sum)
    through[i] = sum;
  }
  for (int i = 0; i < kLength; i++) CHECK_EQ(through[i], expected += values[i]);
#if !defined __clang__ || __clang_major__ > 14 /* Clang 14 loses it */
  CHECK_EQ(sum, expected);
#endif
  sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < kLength; i++) {
    before[i] = sum;
#pragma omp scan exclusive(sum)
    sum += values[i];
  }
  for (int i = 0; i < kLength; i++) CHECK_EQ(before[i], through[i] - values[i]);
}

#ifndef __clang__ /* Clang 19 keeps the last value that a thread had in its last chunk, on libomp, too */
static void conditional_lastprivate(void) {
  for (int round = 0; round < 20; round++) {
    int last = -1;
#pragma omp parallel for lastprivate(conditional : last) schedule(dynamic, 3)
    for (int i = 0; i < kLength; i++)
      if (i % 7 == round % 7 && i < kLength - 100) last = i;
    int expected = kLength - 101;
    while (expected % 7 != round % 7) expected--;
    CHECK_EQ(last, expected);
  }
}
#else
static void conditional_lastprivate(void) {}
#endif

static void schedule_modifiers(void) {
#pragma omp parallel
  {
    int before_it = -1;
#pragma omp for schedule(monotonic : dynamic, 3)
    for (int i = 0; i < kLength; i++) {
      CHECK(i > before_it);
      before_it = i;
#pragma omp atomic
      through[i]++;
    }
#pragma omp for schedule(nonmonotonic : dynamic, 3)
    for (int i = 0; i < kLength; i++) {
#pragma omp atomic
      through[i]++;
    }
#pragma omp for schedule(nonmonotonic : guided)
    for (int i = 0; i < kLength; i++) {
#pragma omp atomic
      through[i]++;
    }
  }
  for (int i = 0; i < kLength; i++) CHECK_EQ(through[i], before[i] + values[i] + 3);
}

static void any_order(void) {
  int sum = 0;
#pragma omp parallel for order(concurrent) reduction(+ : sum)
  for (int i = 0; i < kLength; i++) sum += i;
  CHECK_EQ(sum, kLength * (kLength - 1) / 2);
}

#if !defined __clang__ || __clang_major__ >= 19
static void loop_construct(void) {
  int sum = 0, last = -1, scratch = 4;
#pragma omp parallel shared(sum)
  {
#pragma omp loop bind(parallel) reduction(+ : sum) private(scratch) order(concurrent)
    for (int i = 0; i < kLength; i++) {
      scratch = i;
      sum += scratch;
    }
  }
  CHECK_EQ(sum, kLength * (kLength - 1) / 2);
  CHECK_EQ(scratch, 4);
  sum = 0;
#pragma omp loop bind(thread) lastprivate(last)
  for (last = 0; last < kLength; last++) through[last] = 1;
  CHECK_EQ(last, kLength);
#pragma omp parallel shared(sum)
  {
#pragma omp loop bind(parallel) collapse(2) reduction(+ : sum)
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 100; j++) sum += through[i * 100 + j];
  }
  CHECK_EQ(sum, kLength);
}
#else
static void loop_construct(void) {}
#endif

int main(void) {
  for (int i = 0; i < kLength; i++) values[i] = i % 13 - 3;
  scans();
  conditional_lastprivate();
  schedule_modifiers();
  any_order();
  loop_construct();
  return 0;
}
