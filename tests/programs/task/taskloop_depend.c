/* SPDX-License-Identifier: Apache-2.0
 *
 * marline_taskloop_depend: a taskloop of tasks with dependences, each for its own iterations (marline.h). Stages of
 * loops over one array follow each other without a wait in between, with every clause that makes tasks, and mix with
 * ordinary tasks. Misuse ends in one line.
 *
 * Covers: marline dependence calls, parallel(num_threads), task(depend:in), taskloop(if, final, untied, mergeable,
 *  priority, grainsize, num_tasks, collapse, nogroup, lastprivate, reduction)
 */
#include "../child.h"
#include <marline/marline.h>
#include <omp.h>

enum { kCells = 96, kStages = 6 };

static long cells[kCells + 1], copies[kCells + 1];
static uint64_t covered;

/* Iterations [first, first + count): reads cells first - 1 to first + count, writes its own. */
static void stencil(uint64_t first, uint64_t count, void* arg) {
  const long* from = arg == copies ? copies : cells;
  const long* to = arg == copies ? cells : copies;
  CHECK_EQ(first, covered);
  covered += count;
  for (uint64_t i = first; i < first + count; i++) {
    const marline_dependence_t own[] = {{(void*)&from[i], MARLINE_IN}, {(void*)&to[i], MARLINE_OUT}};
    marline_task_depend(own, 2);
  }
  const marline_dependence_t beyond = {(void*)&from[first + count < kCells ? first + count : 0], MARLINE_IN};
  marline_task_depend(&beyond, 1);
}

static void check_stages(void) {
  static long expected[kCells], next[kCells];
  for (int i = 0; i < kCells; i++) expected[i] = i;
  for (int stage = 0; stage < kStages; stage++) {
    for (int i = 0; i < kCells; i++) next[i] = 3 * expected[i] + expected[(i + 1) % kCells] + stage;
    memcpy(expected, next, sizeof expected);
  }
  for (int i = 0; i < kCells; i++) CHECK_EQ(cells[i], expected[i]);
}

#define STAGE(to, from, stage) \
  if (i % 16 == 0) usleep(20); \
  to[i] = 3 * from[i] + from[(i + 1) % kCells] + stage

static void stages(int way) {
  for (int i = 0; i < kCells; i++) cells[i] = i;
  for (int stage = 0; stage < kStages; stage += 2) {
    covered = 0;
    marline_taskloop_depend(stencil, cells);
    if (way == 0) {
#pragma omp taskloop nogroup grainsize(5)
      for (int i = 0; i < kCells; i++) {
        STAGE(copies, cells, stage);
      }
    } else if (way == 1) {
#pragma omp taskloop nogroup num_tasks(kCells)
      for (unsigned long i = 0; i < kCells; i++) {
        STAGE(copies, cells, stage);
      }
    } else { /* counted from 0, whatever the variable starts from */
#pragma omp taskloop num_tasks(7) priority(3) untied
      for (int k = 1000; k < 1000 + 2 * kCells; k += 2) {
        int i = (k - 1000) / 2;
        STAGE(copies, cells, stage);
      }
    }
    CHECK_EQ(covered, kCells);
    covered = 0;
    marline_taskloop_depend(stencil, copies);
    if (way == 1) {
#pragma omp taskloop collapse(2) nogroup grainsize(9) mergeable
      for (int r = 0; r < 8; r++)
        for (int c = 0; c < kCells / 8; c++) {
          int i = r * (kCells / 8) + c;
          STAGE(cells, copies, stage + 1);
        }
    } else {
#pragma omp taskloop nogroup num_tasks(11) if (way == 0)
      for (int i = 0; i < kCells; i++) {
        STAGE(cells, copies, stage + 1);
      }
    }
    CHECK_EQ(covered, kCells);
  }
#pragma omp taskwait
  check_stages();
}

/* Backwards: iteration 0 is the first that runs in the serial loop. A chain through all tasks keeps that order. */
static void chain_it(uint64_t first, uint64_t count, void* arg) {
  CHECK(count > 0 && first + count <= kCells);
  marline_task_depend_object(arg);
}

static void backwards_reducing(void) {
  static long order;
  long sum = 0, last = 0;
  order = 0;
  const marline_dependence_t list[] = {{&order, MARLINE_INOUT}};
  marline_depend_object_t* object = marline_depend_create(list, 1);
  marline_taskloop_depend(chain_it, object);
#pragma omp taskloop grainsize(6) reduction(+ : sum) lastprivate(last)
  for (int i = kCells; i > 0; i--) {
    CHECK_EQ(order++, kCells - i);
    sum += i;
    last = i;
  }
  CHECK_EQ(sum, kCells * (kCells + 1) / 2);
  CHECK_EQ(last, 1);
  order = 0;
  marline_taskloop_depend(chain_it, object);
#pragma omp taskloop num_tasks(9) final(1) nogroup
  for (int i = 0; i < kCells; i++) CHECK_EQ(order++, i);
#pragma omp task depend(in : order)
  CHECK_EQ(order, kCells);
#pragma omp taskwait
  marline_depend_destroy(object);
  marline_taskloop_depend(chain_it, NULL);
#pragma omp taskloop /* no iterations: no calls */
  for (int i = 0; i < (int)covered - kCells; i++) order++;
#pragma omp taskloop num_tasks(4) /* and the next loop has none of it */
  for (int i = 0; i < kCells; i++)
#pragma omp atomic
    order++;
  CHECK_EQ(order, 2 * kCells);
}

static void nothing(uint64_t first, uint64_t count, void* arg) { (void)first, (void)count, (void)arg; }

static int misuse(const char* how) {
  if (strcmp(how, "null") == 0) marline_taskloop_depend(NULL, NULL);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    marline_taskloop_depend(nothing, NULL); /* and no taskloop */
#pragma omp taskwait
#pragma omp taskloop
    for (int i = 0; i < kCells; i++) cells[i]++;
  }
  return 0;
}

static int depend_before_loop(void) {
  const marline_dependence_t list[] = {{cells, MARLINE_IN}};
#pragma omp parallel num_threads(1)
#pragma omp single
  {
    marline_task_depend(list, 1);
#pragma omp taskloop
    for (int i = 0; i < kCells; i++) cells[i]++;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return strcmp(argv[1], "task_depend") == 0 ? depend_before_loop() : misuse(argv[1]);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; round++) {
    for (int way = 0; way < 3; way++) stages(way);
    backwards_reducing();
  }
  expect_fatal("null", "marline_taskloop_depend: no function");
  expect_fatal("no_loop", "then did not reach a taskloop");
  expect_fatal("task_depend", "marline_task_depend was called before a taskloop");
  return 0;
}
