/* SPDX-License-Identifier: Apache-2.0
 *
 * In which order one thread runs ready tasks with priorities: exact where Marline promises it. Usage: order CASE LIMIT,
 * CASE one of the names below, LIMIT the value of MARLINE_MAX_READY.
 *
 * Covers: marline priorities, task(priority)
 */
#include "../check.h"
#include <limits.h>
#include <omp.h>

enum { kMost = 4096 };

static int order[kMost]; /* the priorities of the tasks, as they ran */
static int ran;

static void create(int priority) {
#pragma omp task priority(priority) firstprivate(priority)
  order[ran++] = priority;
}

static void shuffle(int* values, int count) {
  unsigned state = 12345;
  for (int i = count - 1; i > 0; i--) {
    state = state * 1103515245u + 12345u;
    int j = (int)(state >> 8) % (i + 1);
    int swapped = values[i];
    values[i] = values[j];
    values[j] = swapped;
  }
}

static void run(const int* values, int count) {
  ran = 0;
#pragma omp parallel num_threads(1)
  for (int i = 0; i < count; i++) create(values[i]);
  CHECK_EQ(ran, count);
}

static void expect_falling(int count) {
  for (int i = 1; i < count; i++) CHECK_RANGE(order[i], 0, order[i - 1]);
}

/* OMP_MAX_TASK_PRIORITY=200: 0 to 200, each once. */
static void few(void) {
  int values[201];
  for (int i = 0; i <= 200; i++) values[i] = i;
  shuffle(values, 201);
  run(values, 201);
  expect_falling(201);
}

/* OMP_MAX_TASK_PRIORITY=2147483647: exact at both ends; in between no task comes before one with a priority that is
 * higher by a part in 32 of the distance from the nearer end. */
static void ends(void) {
  int values[200];
  for (int i = 0; i < 100; i++) {
    values[i] = i;
    values[100 + i] = INT_MAX - i;
  }
  shuffle(values, 200);
  run(values, 200);
  expect_falling(200);

  unsigned state = 1;
  for (int i = 0; i < 200; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = (int)(state >> 1) >> (i % 24);
  }
  run(values, 200);
  for (int i = 1; i < 200; i++) {
    long low = order[i - 1], high = order[i];
    long distance = high < (1 << 30) ? high : INT_MAX - low;
    CHECK(high <= low + distance / 32);
  }
}

/* OMP_MAX_TASK_PRIORITY=5: what is above counts as 5, and is of one bucket: newest first, or oldest first (fifo). */
static void clamped(int fifo) {
  const int values[] = {3, 9, 1, 5, 7, 4, 1000000};
  const int newest_first[] = {1000000, 7, 5, 9, 4, 3, 1}, oldest_first[] = {9, 5, 7, 1000000, 4, 3, 1};
  run(values, 7);
  for (int i = 0; i < 7; i++) CHECK_EQ(order[i], fifo ? oldest_first[i] : newest_first[i]);
}

/* The tasks that one completion makes ready, and the tasks that were ready before. */
static void successors(void) {
  const int values[] = {2, 8, 5, 1, 9};
  static char data[1];
  ran = 0;
#pragma omp parallel num_threads(1)
  {
    create(6);
    create(3);
#pragma omp task depend(out : data[0]) priority(7)
    order[ran++] = 7;
    for (int i = 0; i < 5; i++) {
      int priority = values[i];
#pragma omp task depend(in : data[0]) priority(priority) firstprivate(priority)
      order[ran++] = priority;
    }
  }
  /* 7 first, then everything is ready. */
  CHECK_EQ(order[0], 7);
  order[0] = 10;
  expect_falling(8);
}

/* With `limit` tasks queued, each creation runs the highest of all that are there: seen from inside the tasks. */
static void piled(int limit) {
  static int waiting[kMost];
  enum { kTasks = 2000 };
  ran = 0;
#pragma omp parallel num_threads(1)
  {
    unsigned state = 7;
    for (int i = 0; i < kTasks; i++) {
      state = state * 1664525u + 1013904223u;
      int priority = 1 + (int)(state >> 8) % 1000;
      waiting[priority]++;
#pragma omp task priority(priority) firstprivate(priority)
      {
        for (int higher = priority + 1; higher < kMost; higher++) CHECK_EQ(waiting[higher], 0);
        waiting[priority]--;
        ran++;
      }
      CHECK_RANGE(i + 1 - ran, 0, limit);
    }
    CHECK_RANGE(kTasks - ran, 1, limit);
  }
  CHECK_EQ(ran, kTasks);
}

/* Outside of parallel regions tasks run at once, whatever their priority. */
static void alone(int depth) {
  if (depth == 12) return;
#pragma omp task priority(depth) firstprivate(depth)
  {
    alone(depth + 1);
    ran++;
  }
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 3);
  const char* name = argv[1];
  if (!strcmp(name, "few"))
    few();
  else if (!strcmp(name, "ends"))
    ends();
  else if (!strcmp(name, "clamped"))
    clamped(0);
  else if (!strcmp(name, "clamped_fifo"))
    clamped(1);
  else if (!strcmp(name, "successors"))
    successors();
  else if (!strcmp(name, "piled"))
    piled(atoi(argv[2]));
  else
    CHECK(!"known case");
  ran = 0;
  alone(0);
#pragma omp taskwait
  CHECK_EQ(ran, 12);
  return 0;
}
