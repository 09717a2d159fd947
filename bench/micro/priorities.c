/* SPDX-License-Identifier: Apache-2.0
 *
 * What a priority clause costs: each thread, or one of them, creates empty tasks with priorities that a generator
 * draws; then all wait for them. OMP_MAX_TASK_PRIORITY in the environment decides whether priorities have an effect.
 *
 *   task_plain          without the clause
 *   task_priority       with it: priorities 1 to DISTINCT, drawn evenly
 *   task_one_priority   the same number of tasks, all created by one thread
 *
 * Options before those of bench.h: --tasks N (per thread and round, default 10000), --distinct N (default 1000000). All
 * figures draw the numbers, so that task_plain and task_priority differ by the clause alone. The invariant: every task
 * runs once.
 */
#include "bench.h"

#include <omp.h>
#include <stdint.h>

static long tasks_per_thread = 10000, distinct = 1000000;
static long threads, ran;
static _Thread_local long tls_ran;

/* xorshift64 (Marsaglia, 2003). */
static inline uint64_t draw(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static void create(uint64_t* state, long tasks, int with_priority) {
  for (long i = 0; i < tasks; ++i) {
    int priority = 1 + (int)(draw(state) % (uint64_t)distinct);
    if (with_priority) {
#pragma omp task priority(priority)
      ++tls_ran;
    } else {
#pragma omp task firstprivate(priority)
      tls_ran += priority != 0;
    }
  }
}

static void run(long rounds, int with_priority, int one_creates) {
  ran = 0;
#pragma omp parallel
  {
    uint64_t state = 88172645463325252u + (uint64_t)omp_get_thread_num();
    long tasks = !one_creates ? tasks_per_thread : omp_get_thread_num() == 0 ? threads * tasks_per_thread : 0;
    tls_ran = 0;
    for (long r = 0; r < rounds; ++r) {
      create(&state, tasks, with_priority);
#pragma omp barrier
    }
#pragma omp atomic
    ran += tls_ran;
  }
}

static void plain(long rounds) { run(rounds, 0, 0); }
static void priority(long rounds) { run(rounds, 1, 0); }
static void one_priority(long rounds) { run(rounds, 1, 1); }
static int check(long rounds) { return ran == threads * rounds * tasks_per_thread; }

int main(int argc, char** argv) {
  while (argc > 2 && (!strcmp(argv[1], "--tasks") || !strcmp(argv[1], "--distinct"))) {
    long value = atol(argv[2]);
    if (value < 1 || value > 2147483646) bench_fail("bad argument %s %s", argv[1], argv[2]);
    *(argv[1][2] == 't' ? &tasks_per_thread : &distinct) = value;
    argv[2] = argv[0];
    argv += 2;
    argc -= 2;
  }
  threads = omp_get_max_threads();
  const struct BenchFigure figures[] = {
      {"task_plain", "ns", threads * tasks_per_thread, plain, check, NULL},
      {"task_priority", "ns", threads * tasks_per_thread, priority, check, NULL},
      {"task_one_priority", "ns", threads * tasks_per_thread, one_priority, check, NULL},
  };
  return bench_main(argc, argv, figures, 3);
}
