/* SPDX-License-Identifier: Apache-2.0
 *
 * MARLINE_MAX_TASKS and MARLINE_MAX_BYTES as the program itself can count them: one producer, independent tasks, tasks
 * that form a chain, several producers under one another, tasks with large private data, and outside of parallel
 * regions. Usage: limits TASKS BYTES, the limits in force (0: none).
 *
 * Covers: marline throttling
 */
#include "../check.h"
#include <omp.h>

enum { kTasks = 3000, kBlock = 4096, kLarge = 40000 };

static long most_tasks, most_bytes;

/* docs/design/throttling.md: the limit may be overshot by as many creations as there are between two looks at it, and
 * by as many again for each millisecond in which nothing completes. That bound holds on the busiest machine. */
static double started;

static long most(long limit, long interval) {
  double milliseconds = 1e3 * (omp_get_wtime() - started);
  return limit + interval * (2 + (long)milliseconds);
}

static long most_by_tasks(void) {
  long quarter = most_tasks / 4;
  return most(most_tasks, quarter < 1 ? 1 : quarter > 64 ? 64 : quarter);
}

/* Each worker's pool; other workers have blocks of it that they have yet to give back. */
static long most_by_bytes(long bytes_each) { return most(most_bytes / bytes_each, 64) + 200 * omp_get_max_threads(); }

typedef struct {
  _Atomic long created, ended, most;
} Count;

static void count_one(Count* count) {
  long under_way = ++count->created - count->ended;
  if (under_way > count->most) count->most = under_way;
}

static void check(const char* what, Count* count, long expected, long bytes_each) {
  CHECK_EQ(count->ended, expected);
  printf("%s: at most %ld tasks under way\n", what, (long)count->most);
  if (most_tasks) CHECK_RANGE(count->most, 1, most_by_tasks());
  if (most_bytes && bytes_each) CHECK_RANGE(count->most, 1, most_by_bytes(bytes_each));
}

static void independent(Count* count) {
  for (int i = 0; i < kTasks; i++) {
    count_one(count);
#pragma omp task
    count->ended++;
  }
#pragma omp taskwait
}

/* Nothing but the oldest is ever ready. */
static void chain(Count* count) {
  static char link;
  (void)link; /* GCC does not count a depend clause as a use */
  for (int i = 0; i < kTasks; i++) {
    count_one(count);
#pragma omp task depend(inout : link)
    count->ended++;
  }
#pragma omp taskwait
}

typedef struct {
  char bytes[kBlock];
} Block;
typedef struct {
  char bytes[kLarge];
} Large;

static void with_blocks(Count* count) {
  static Block block;
  for (int i = 0; i < kTasks; i++) {
    count_one(count);
#pragma omp task firstprivate(block)
    count->ended += block.bytes[i % kBlock] == 0;
  }
#pragma omp taskwait
}

static void with_large(Count* count) {
  static Large large;
  static char link;
  (void)link;
  for (int i = 0; i < kTasks / 10; i++) {
    count_one(count);
#pragma omp task firstprivate(large) depend(inout : link)
    count->ended += large.bytes[i] == 0;
  }
#pragma omp taskwait
}

/* Producers that are tasks of a producer, each above its limit, deeper than fibers are stacked. */
static void nested(int depth, _Atomic long* leaves) {
  for (int i = 0; i < 12; i++) {
    int deeper = depth < 12 && i == 11;
#pragma omp task firstprivate(deeper)
    if (deeper)
      nested(depth + 1, leaves);
    else
      ++*leaves;
  }
#pragma omp taskwait
}

static void on_a_team(const char* what, void (*produce)(Count*), long expected, long bytes_each) {
  Count count = {0};
  started = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  produce(&count);
  check(what, &count, expected, bytes_each);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 3);
  most_tasks = atol(argv[1]);
  most_bytes = atol(argv[2]);
  on_a_team("independent", independent, kTasks, 0);
  on_a_team("chain", chain, kTasks, 0);
  on_a_team("blocks", with_blocks, kTasks, kBlock);
  on_a_team("large blocks", with_large, kTasks / 10, kLarge);
  _Atomic long leaves = 0;
#pragma omp parallel
#pragma omp single
  nested(0, &leaves);
  CHECK_EQ(leaves, 12 * 11 + 12);
  Count alone = {0};
  started = omp_get_wtime();
  chain(&alone); /* outside of parallel regions */
  check("alone", &alone, kTasks, 0);
  return 0;
}
