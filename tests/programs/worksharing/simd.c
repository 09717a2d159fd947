/* SPDX-License-Identifier: Apache-2.0
 *
 * simd alone and with other loops: the results equal the plain loop's, and what a clause leaves in a variable after the
 * loop is what the last iteration has.
 *
 * Covers: simd(aligned, collapse, if, lastprivate, linear, nontemporal, private, reduction, safelen, simdlen),
 *   for simd, parallel for simd, taskloop simd, declare simd, ordered(simd, threads), for(schedule:simd, ordered)
 */
#include "../check.h"

enum { kLength = 1000, kSum = kLength * (kLength - 1) / 2 };

static int values[kLength] __attribute__((aligned(64))), results[kLength] __attribute__((aligned(64)));

#pragma omp declare simd simdlen(4) uniform(factor) linear(index : 1) notinbranch
static int scaled(const int* table, int index, int factor) { return table[index] * factor; }

static void alone(void) {
  int sum = 0, last = 0, step = 3, scratch = 9, *from = values, *to = results;
#pragma omp simd aligned(from, to : 64) lastprivate(last) linear(step : 2) private(scratch) simdlen(4) if (simd : 1)
  for (int i = 0; i < kLength; i++) {
    scratch = from[i] * 2;
    to[i] = scratch;
    last = i;
    step += 2;
  }
  CHECK_EQ(last, kLength - 1);
  CHECK_EQ(step, 3 + 2 * kLength);
  CHECK_EQ(scratch, 9);
#pragma omp simd reduction(+ : sum) nontemporal(results)
  for (int i = 0; i < kLength; i++) sum += results[i];
  CHECK_EQ(sum, 2 * kSum);
  sum = 0;
#pragma omp simd collapse(2) reduction(+ : sum)
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 100; j++) sum += values[i * 100 + j];
  CHECK_EQ(sum, kSum);
#pragma omp simd safelen(4)
  for (int i = 4; i < kLength; i++) results[i] = results[i - 4] + 1;
  CHECK_EQ(results[kLength - 1], results[3] + (kLength - 4) / 4);
}

static void shared_among_threads(void) {
  int sum = 0;
#pragma omp parallel shared(sum)
  {
#pragma omp for simd reduction(+ : sum) schedule(simd : dynamic, 5)
    for (int i = 0; i < kLength; i++) sum += scaled(values, i, 3);
  }
  CHECK_EQ(sum, 3 * kSum);
  sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(simd : static)
  for (int i = 0; i < kLength; i++) sum += values[i];
  CHECK_EQ(sum, kSum);
  sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop simd reduction(+ : sum) grainsize(100)
  for (int i = 0; i < kLength; i++) sum += values[i];
  CHECK_EQ(sum, kSum);
}

static void in_order(void) {
  int count = 0;
#pragma omp simd
  for (int i = 0; i < kLength; i++) {
#pragma omp ordered simd
    results[i] = count++;
  }
  CHECK_EQ(count, kLength);
  for (int i = 0; i < kLength; i++) CHECK_EQ(results[i], i);
  count = 0;
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < kLength; i++) {
#pragma omp ordered threads
    CHECK_EQ(count++, i);
  }
  CHECK_EQ(count, kLength);
}

int main(void) {
  for (int i = 0; i < kLength; i++) values[i] = i;
  alone();
  shared_among_threads();
  in_order();
  return 0;
}
