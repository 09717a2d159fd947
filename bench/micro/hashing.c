/* SPDX-License-Identifier: Apache-2.0
 *
 * What it costs to find the addresses of dependences, by their stride: one thread creates tasks of eight dependences
 * each over 2048 addresses `--stride` bytes apart (64 if not given), and waits after each round. The memory is never
 * accessed: the addresses are a reserved range. Figures: `dependence`, the creator's time per dependence; under Marline
 * `probes`, slots of the table that a lookup tries beyond the first.
 */
#include "bench.h"

#include <stdint.h>
#include <sys/mman.h>

enum { kAddresses = 2048, kDependences = 8 };

/* Marline's, if it serves the program: marline_counters_t of marline.h. */
struct Counters {
  uint64_t other[7], lookups, probes, rebuilds;
};
extern void marline_counters_read(struct Counters* out, size_t bytes) __attribute__((weak));

static char* base;
static size_t stride = 64;
static double created_ns;
static long tasks_run;

static void create_tasks(void) {
  for (size_t i = 0; i < kAddresses; i += kDependences) {
#pragma omp task depend(inout : base[i * stride], base[(i + 1) * stride], base[(i + 2) * stride]) \
    depend(inout : base[(i + 3) * stride], base[(i + 4) * stride], base[(i + 5) * stride])        \
    depend(inout : base[(i + 6) * stride], base[(i + 7) * stride]) shared(tasks_run)
    __atomic_fetch_add(&tasks_run, 1, __ATOMIC_RELAXED);
  }
}

static void run(long rounds) {
  created_ns = 0;
  tasks_run = 0;
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < rounds; ++r) {
    double start = bench_now();
    create_tasks();
    created_ns += bench_now() - start;
#pragma omp taskwait
  }
}

static int check(long rounds) { return tasks_run == rounds * (kAddresses / kDependences); }
static double create_time(void) { return created_ns; }

int main(int argc, char** argv) {
  if (argc > 2 && !strcmp(argv[1], "--stride")) {
    stride = strtoul(argv[2], NULL, 10);
    if (stride == 0) bench_fail("bad stride %s", argv[2]);
    argv[2] = argv[0];
    argc -= 2;
    argv += 2;
  }
  base = mmap(NULL, kAddresses * stride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) bench_fail("no address range of %zu bytes", kAddresses * stride);
  static const struct BenchFigure figures[] = {{"dependence", "ns", kAddresses, run, check, create_time}};
  int status = bench_main(argc, argv, figures, 1);
  if (marline_counters_read && !bench_options.rounds) {
    struct Counters counters;
    marline_counters_read(&counters, sizeof counters);
    bench_say("probes", (double)counters.probes / (double)counters.lookups, "probes");
  }
  return status;
}
