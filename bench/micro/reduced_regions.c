/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions of a cluster that add to one variable by a task reduction, next to the same regions without one. `long`: 64
 * regions that sleep for 10 ms each, per region: with a node's threads and no loss, 10 ms over all threads of the
 * cluster. `short`: 256 empty regions, per region. `group`: groups of 8 empty regions, per group: what its end costs.
 * Run it with `marline run --devices cluster:N`. GCC's code combines by itself, so its reduced regions run one after
 * another.
 */
#include "bench.h"

#include <unistd.h>

enum { kLong = 64, kShort = 256, kGroup = 8, kSleep = 10000 };

static long sum, data, expected;

#pragma omp declare target
int usleep(unsigned);
#pragma omp end declare target

static void reduced(int regions, unsigned microseconds) {
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < regions; ++i) {
#pragma omp target nowait in_reduction(+ : sum) firstprivate(microseconds)
    {
      if (microseconds != 0) usleep(microseconds);
      sum += 1;
    }
  }
  expected += regions;
}

static void plain(int regions, unsigned microseconds) {
#pragma omp taskgroup
  for (int i = 0; i < regions; ++i) {
#pragma omp target nowait map(to : data) firstprivate(microseconds)
    if (microseconds != 0 && data == 0) usleep(microseconds);
  }
}

static void run_reduced_long(long rounds) {
  for (long i = 0; i < rounds; ++i) reduced(kLong, kSleep);
}
static void run_plain_long(long rounds) {
  for (long i = 0; i < rounds; ++i) plain(kLong, kSleep);
}
static void run_reduced_short(long rounds) {
  for (long i = 0; i < rounds; ++i) reduced(kShort, 0);
}
static void run_plain_short(long rounds) {
  for (long i = 0; i < rounds; ++i) plain(kShort, 0);
}
static void run_reduced_group(long rounds) {
  for (long i = 0; i < rounds; ++i) reduced(kGroup, 0);
}
static void run_plain_group(long rounds) {
  for (long i = 0; i < rounds; ++i) plain(kGroup, 0);
}

static int check(long rounds) {
  (void)rounds;
  return sum == expected;
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"reduced_long", "ns", kLong, run_reduced_long, check, NULL},
                                               {"plain_long", "ns", kLong, run_plain_long, check, NULL},
                                               {"reduced_short", "ns", kShort, run_reduced_short, check, NULL},
                                               {"plain_short", "ns", kShort, run_plain_short, check, NULL},
                                               {"reduced_group", "ns", 1, run_reduced_group, check, NULL},
                                               {"plain_group", "ns", 1, run_plain_group, check, NULL}};
  int status = 0;
#pragma omp target enter data map(to : data)
#pragma omp parallel
#pragma omp single
  status = bench_main(argc, argv, figures, (int)(sizeof figures / sizeof figures[0]));
#pragma omp target exit data map(delete : data)
  return status;
}
