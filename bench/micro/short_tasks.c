/* SPDX-License-Identifier: Apache-2.0
 *
 * Independent tasks of a chosen length, from one creator or from all threads: whether more threads ever make a program
 * slower. Run it with OMP_NUM_THREADS of 1 and of more.
 *
 *   task_short   wall time per task of the team; rounds of `--tasks` (default 10000) per creator, each ended by a
 *                taskwait.
 *
 * Options before those of bench.h: --length NS, the time that a task's body takes on its own (default 0: an empty
 * body); --creators one|all; --tasks N; --priorities N: task i has the priority clause of i % N (0: no clause; with
 * OMP_MAX_TASK_PRIORITY in the environment). The body is a chain of multiplications, whose length is measured first.
 * The invariant: every task runs once.
 */
#include "bench.h"

#include <omp.h>
#include <stdint.h>

static long tasks = 10000, length, links, priorities;
static int all_create;
static long threads, ran;
static struct {
  _Alignas(64) uint64_t value;
  long count;
} sums[1024];

static inline uint64_t work(uint64_t x, long count) {
  for (long i = 0; i < count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

/* How many links of the chain take `length` ns: from the fastest of many trials, which nothing has disturbed. */
static long measure_links(void) {
  enum { kTrials = 50, kLinks = 20000 };
  double least = 1e18;
  for (int i = 0; i < kTrials; ++i) {
    double start = bench_now();
    sums[0].value = work(sums[0].value, kLinks);
    double spent = bench_now() - start;
    if (spent < least) least = spent;
  }
  return (long)((double)length * kLinks / least + 0.5);
}

static inline void body(void) {
  int self = omp_get_thread_num();
  sums[self].value = work(sums[self].value, links);
  ++sums[self].count;
}

static void create(void) {
  for (long i = 0; i < tasks; ++i) {
    if (priorities) {
#pragma omp task priority((int)(i % priorities))
      body();
    } else {
#pragma omp task
      body();
    }
  }
#pragma omp taskwait
}

static void run(long rounds) {
  for (int i = 0; i < 1024; ++i) sums[i].count = 0;
#pragma omp parallel
  for (long r = 0; r < rounds; ++r) {
    if (all_create || omp_get_thread_num() == 0) create();
#pragma omp barrier
  }
  ran = 0;
  for (int i = 0; i < 1024; ++i) ran += sums[i].count;
}

static int check(long rounds) { return ran == rounds * tasks * (all_create ? threads : 1); }

/* 0: the option is not this program's. */
static int take_option(const char* name, const char* value) {
  if (!strcmp(name, "--creators")) {
    all_create = !strcmp(value, "all");
    if (!all_create && strcmp(value, "one")) bench_fail("bad argument --creators %s: one or all", value);
    return 1;
  }
  long* number = !strcmp(name, "--tasks") ? &tasks : !strcmp(name, "--length") ? &length : &priorities;
  if (number == &priorities && strcmp(name, "--priorities")) return 0;
  *number = atol(value);
  if (*number < (number == &tasks) || *number > 1000000000) bench_fail("bad argument %s %s", name, value);
  return 1;
}

int main(int argc, char** argv) {
  while (argc > 2 && take_option(argv[1], argv[2])) {
    argv[2] = argv[0];
    argv += 2;
    argc -= 2;
  }
  threads = omp_get_max_threads();
  if (threads > 1024) bench_fail("at most 1024 threads, not %ld", threads);
  links = measure_links();
  const struct BenchFigure figures[] = {
      {"task_short", "ns", tasks * (all_create ? threads : 1), run, check, NULL},
  };
  return bench_main(argc, argv, figures, 1);
}
