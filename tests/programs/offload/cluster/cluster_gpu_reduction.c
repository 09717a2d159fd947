/* SPDX-License-Identifier: Apache-2.0
 *
 * Task reductions of regions on GPUs that are one device, each with a copy there: sums, a structure with an operation
 * of its own, groups one after the other and in each other, and regions that depend on each other by data of their own.
 * Each region takes part in one reduction, as Clang 19 compiles a region with two to nothing.
 *
 * Arguments: GROUPS [alone]. alone: one group of sums and nothing else.
 *
 * Covers: target(in_reduction, nowait, depend, map:tofrom), taskgroup(task_reduction), declare reduction
 */
#include "../device.h"

#include <stdlib.h>
#include <string.h>

enum { kRegions = 24, kWide = 3000 };

#pragma omp declare target
typedef struct {
  long count, sums[kWide];
} wide_t;

static void add_wide(wide_t* into, const wide_t* from) {
  into->count += from->count;
  for (int i = 0; i < kWide; i++) into->sums[i] += from->sums[i];
}
#pragma omp end declare target

#pragma omp declare reduction(wide:wide_t : add_wide(&omp_out, &omp_in)) initializer(omp_priv = (wide_t){0})

static void sums(long seed) {
  long sum = seed, chain = 0, expected = seed;
#pragma omp taskgroup task_reduction(+ : sum)
  for (long i = 0; i < kRegions; i++) {
    if (i % 3 != 0) {
#pragma omp target nowait in_reduction(+ : sum)
      sum += seed * i;
    } else {
#pragma omp target nowait in_reduction(+ : sum) depend(inout : chain) map(tofrom : chain)
      sum += seed * i + chain++ * 0;
    }
    expected += seed * i;
  }
  CHECK_EQ(sum, expected);
  CHECK_EQ(chain, (kRegions + 2) / 3);
}

static void structures(long seed) {
  static wide_t wide;
  memset(&wide, 0, sizeof wide);
#pragma omp taskgroup task_reduction(wide : wide)
  for (long i = 0; i < kRegions; i++) {
#pragma omp target nowait in_reduction(wide : wide)
    {
      wide.count++;
      for (int k = 0; k < kWide; k++) wide.sums[k] += seed * k + i;
    }
  }
  CHECK_EQ(wide.count, kRegions);
  for (int k = 0; k < kWide; k++) CHECK_EQ(wide.sums[k], kRegions * seed * k + kRegions * (kRegions - 1) / 2);
}

static void groups_in_groups(long seed) {
  long outer = 0;
#pragma omp taskgroup task_reduction(+ : outer)
  for (long i = 0; i < 3; i++) {
#pragma omp target nowait in_reduction(+ : outer)
    outer += seed;
    sums(seed + i);
  }
  CHECK_EQ(outer, 3 * seed);
}

int main(int argc, char** argv) {
  int groups = argc > 1 ? atoi(argv[1]) : 1;
#pragma omp target /* before any group: regions are sent ahead to a device that has been started */
  {
  }
#pragma omp parallel
#pragma omp single
  for (int group = 1; group <= groups; group++) {
    sums(group);
    if (argc > 2) continue;
    structures(group);
    groups_in_groups(group);
  }
  return 0;
}
