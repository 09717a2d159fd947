/* SPDX-License-Identifier: Apache-2.0
 *
 * A producer far faster than its consumers: a million independent tasks, a million tasks through a million distinct
 * addresses, and chains of a million tasks of which few are ever ready, in bounded memory. Usage: bounded TASKS; with
 * 100000000 it is the long run that ctest does not make.
 *
 * Covers: marline throttling, task(depend:inout)
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>
#include <sys/resource.h>

enum { kMaxGrowth = 300 << 20 };

static long peak_bytes(void) {
  struct rusage usage;
  CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss * 1024;
}

static void independent(long tasks) {
  long ran = 0, before = peak_bytes();
#pragma omp parallel shared(ran)
#pragma omp single nowait
  for (long t = 0; t < tasks; t++) {
#pragma omp task shared(ran)
#pragma omp atomic
    ran++;
  }
  CHECK_EQ(ran, tasks);
  printf("%ld independent tasks: peak grew by %ld MiB\n", tasks, (peak_bytes() - before) >> 20);
  CHECK_RANGE(peak_bytes() - before, 0, kMaxGrowth);
}

/* The addresses are never touched: a reserved range stands for any amount of data. */
static void distinct_addresses(long tasks, char* range) {
  long ran = 0, before = peak_bytes();
#pragma omp parallel shared(ran)
#pragma omp single
  for (long t = 0; t < tasks; t++) {
#pragma omp task depend(out : range[t * 8]) shared(ran)
#pragma omp atomic
    ran++;
    if (t % 1000 == 999) {
#pragma omp taskwait
    }
  }
  CHECK_EQ(ran, tasks);
  printf("%ld distinct addresses: peak grew by %ld MiB\n", tasks, (peak_bytes() - before) >> 20);
  CHECK_RANGE(peak_bytes() - before, 0, kMaxGrowth);
}

/* Nothing but MARLINE_MAX_TASKS holds this producer. */
static void chains(long tasks) {
  enum { kChains = 4 };
  static char links[kChains];
  static long ran[kChains];
  long before = peak_bytes();
  (void)links; /* GCC does not count a depend clause as a use */
#pragma omp parallel
#pragma omp single
  for (long t = 0; t < tasks; t++) {
#pragma omp task depend(inout : links[t % kChains]) firstprivate(t)
    ran[t % kChains]++;
  }
  for (int i = 0; i < kChains; i++) CHECK_EQ(ran[i], tasks / kChains);
  printf("%ld tasks in chains: peak grew by %ld MiB\n", tasks, (peak_bytes() - before) >> 20);
  CHECK_RANGE(peak_bytes() - before, 0, kMaxGrowth);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  long tasks = atol(argv[1]);
  independent(tasks);
  distinct_addresses(tasks, (char*)((uintptr_t)1 << 40));
  chains(tasks);
  return 0;
}
