/* SPDX-License-Identifier: Apache-2.0
 *
 * With propagation, tasks know their predecessors; memory must follow the tasks in flight all the same, not the
 * history. Usage: chain TASKS.
 *
 * Covers: marline priorities
 */
#include "../check.h"
#include <omp.h>
#include <sys/resource.h>

enum { kChains = 64, kMaxGrowth = 100 << 20 };

static long ran;
static char data[kChains * 64];

static long peak_bytes(void) {
  struct rusage usage;
  CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss * 1024;
}

/* Chains that touch their neighbours, a sender now and then, and never more than a few thousand tasks in flight. */
static void create_all(long tasks) {
  for (long t = 0; t < tasks; t++) {
    long chain = t % kChains, neighbour = (t + 1) % kChains;
#pragma omp task depend(inout : data[chain * 64]) depend(in : data[neighbour * 64]) priority(t % 16 == 0)
#pragma omp atomic
    ran++;
    if (t % 4096 == 4095) {
#pragma omp taskwait
    }
  }
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  long tasks = atol(argv[1]), before = peak_bytes();
#pragma omp parallel
#pragma omp single
  create_all(tasks);
  CHECK_EQ(ran, tasks);
  printf("%ld tasks: peak grew by %ld MiB\n", tasks, (peak_bytes() - before) >> 20);
  CHECK_RANGE(peak_bytes() - before, 0, kMaxGrowth);
  return 0;
}
