/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutual exclusion, entered by all threads as often as they can: `critical`, `lock`, `nest_lock`, and `atomic_fallback`
 * (an atomic update of a type that the processor has no instruction for; Clang leaves it to libatomic). Figures: wall
 * time per entry of any thread. Each entry adds one to a plain counter; its final value shows that no entry was lost.
 */
#include "bench.h"

#include <omp.h>

enum { kEntries = 10000 };

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static long counter;
static long double wide;

static void critical(long rounds) {
  counter = 0;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rounds * kEntries; ++i) {
#pragma omp critical
    counter += 1;
  }
}

static void with_lock(long rounds) {
  counter = 0;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rounds * kEntries; ++i) {
    omp_set_lock(&lock);
    counter += 1;
    omp_unset_lock(&lock);
  }
}

static void with_nest_lock(long rounds) {
  counter = 0;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rounds * kEntries; ++i) {
    omp_set_nest_lock(&nest_lock);
    counter += 1;
    omp_unset_nest_lock(&nest_lock);
  }
}

static void atomic_fallback(long rounds) {
  wide = 0;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rounds * kEntries; ++i) {
#pragma omp atomic
    wide += 1;
  }
  counter = (long)wide;
}

static int check(long rounds) { return counter == rounds * kEntries; }

int main(int argc, char** argv) {
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest_lock);
  static const struct BenchFigure figures[] = {
      {"critical", "ns", kEntries, critical, check, NULL},
      {"lock", "ns", kEntries, with_lock, check, NULL},
      {"nest_lock", "ns", kEntries, with_nest_lock, check, NULL},
      {"atomic_fallback", "ns", kEntries, atomic_fallback, check, NULL},
  };
  return bench_main(argc, argv, figures, 4);
}
