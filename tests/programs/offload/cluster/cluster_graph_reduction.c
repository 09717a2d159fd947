/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent graphs that sum up in each iteration what regions find: a task reduction in each iteration, in all modes.
 * Beside it regions that every iteration has, before the reduction and after it.
 *
 * Covers: target(in_reduction, nowait, depend, map:tofrom, map:to), taskgroup(task_reduction), taskwait
 */
#include "../device.h"

#include <marline/marline.h>

enum { kBlocks = 8, kBlock = 100, kSteps = 12 };

static const int kModes[] = {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT, MARLINE_GRAPH_REPLAY};

static void add(long* block, long what) {
#pragma omp target nowait depend(inout : block[0]) map(tofrom : block[0 : kBlock]) firstprivate(what)
  for (int i = 0; i < kBlock; i++) block[i] += what;
}

static long sum_of(long* x) {
  long sum = 1;
#pragma omp taskgroup task_reduction(+ : sum)
  for (int b = 0; b < kBlocks; b++) {
    long* block = x + b * kBlock;
#pragma omp target nowait in_reduction(+ : sum) map(to : block[0 : kBlock])
    for (int i = 0; i < kBlock; i++) sum += block[i];
  }
  return sum - 1;
}

static void iterate(int mode) {
  static long x[kBlocks * kBlock], sums[kSteps];
  long steps = 0;
  for (int i = 0; i < kBlocks * kBlock; i++) x[i] = i;
#pragma omp target enter data map(to : x)
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kSteps, ++it, mode) {
    for (int b = 0; b < kBlocks; b++) add(x + b * kBlock, it % 3);
#pragma omp taskwait
    sums[steps++] = sum_of(x);
    for (int b = 0; b < kBlocks; b++) add(x + b * kBlock, 1);
  }
#pragma omp target exit data map(from : x)
  long added = 0;
  for (int it = 0; it < steps; it++) {
    added += it % 3;
    CHECK_EQ(sums[it], kBlocks * kBlock * added + (long)kBlocks * kBlock * (kBlocks * kBlock - 1) / 2);
    added++;
  }
  for (int i = 0; i < kBlocks * kBlock && steps == kSteps; i++) CHECK_EQ(x[i], i + added);
  CHECK(steps == kSteps || mode == MARLINE_GRAPH_REPLAY);
}

int main(void) {
  for (unsigned i = 0; i < sizeof kModes / sizeof *kModes; i++) iterate(kModes[i]);
  return 0;
}
