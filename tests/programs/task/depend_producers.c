/* SPDX-License-Identifier: Apache-2.0
 *
 * marline_depend_share: several producers, which are tasks, discover one graph. A stencil with blocks by different
 * producers gives the serial result; waits and undeferred tasks in a producer see the others' tasks; a producer never
 * stands before its descendants; a table outlives the task that shares it.
 *
 * Covers: marline dependence calls, task(if, untied, firstprivate, depend:in/out/inout), taskgroup,
 *  taskwait(depend:in)
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

enum { kBlocks = 6, kWidth = 12, kCells = kBlocks * kWidth, kSteps = 12 };

static long grid[2][kCells], expected[2][kCells];

static long update(const long* from, int i) {
  return 3 * from[i] + 5 * from[(i + kCells - 1) % kCells] + 7 * from[(i + 1) % kCells] + 1;
}

static void pause_sometimes(int i) {
  if (i % 7 == 0) usleep(30);
}

/* Tasks for cells [first, last) of a step. */
static void produce(int step, int first, int last) {
  long *from = grid[step % 2], *to = grid[1 - step % 2];
  for (int i = first; i < last; i++) {
    int west = (i + kCells - 1) % kCells, east = (i + 1) % kCells;
#pragma omp task depend(in : from[west], from[i], from[east]) depend(out : to[i]) firstprivate(i)
    {
      pause_sometimes(i + step);
      to[i] = update(from, i);
    }
  }
}

/* Two producers below a producer, each for a half. */
static void produce_in_halves(int step, int first, int last) {
  int middle = (first + last) / 2;
#pragma omp task firstprivate(step, first, middle)
  produce(step, first, middle);
#pragma omp task firstprivate(step, last, middle)
  produce(step, middle, last);
#pragma omp taskwait
}

static void reset(void) {
  for (int i = 0; i < kCells; i++) grid[0][i] = expected[0][i] = i * i;
  for (int step = 0; step < kSteps; step++)
    for (int i = 0; i < kCells; i++) expected[1 - step % 2][i] = update(expected[step % 2], i);
}

static void check_grid(void) {
  for (int i = 0; i < kCells; i++) CHECK_EQ(grid[kSteps % 2][i], expected[kSteps % 2][i]);
}

/* A producer has dependences of its own: it comes after the producers of the step before that create neighbours of its
 * tasks. */
static void stencil_by_dependences(int nested) {
  static char made[2][kBlocks] __attribute__((unused)); /* GCC does not count depend clauses as a use */
  for (int step = 0; step < kSteps; step++)
    for (int b = 0; b < kBlocks; b++) {
      int before = step % 2, now = 1 - before, west = (b + kBlocks - 1) % kBlocks, east = (b + 1) % kBlocks;
#pragma omp task untied depend(in : made[before][west], made[before][b], made[before][east]) \
    depend(out : made[now][b]) firstprivate(step, b)
      {
        if (nested)
          produce_in_halves(step, b * kWidth, (b + 1) * kWidth);
        else
          produce(step, b * kWidth, (b + 1) * kWidth);
      }
    }
}

/* All producers of a step, then a wait for them, but not for their tasks. */
static void stencil_by_steps(void) {
  for (int step = 0; step < kSteps; step++) {
    for (int b = 0; b < kBlocks; b++) {
#pragma omp task firstprivate(step, b)
      produce(step, b * kWidth, (b + 1) * kWidth);
    }
#pragma omp taskwait
  }
}

static void stencils(int way) {
  reset();
#pragma omp taskgroup
  {
    if (way == 2)
      stencil_by_steps();
    else
      stencil_by_dependences(way);
  }
  check_grid();
}

/* Explicit tasks that share, each its own table, and end before their producers do. */
static void short_sharers(void) {
  static long chains[8];
  static char order[8] __attribute__((unused));
  memset(chains, 0, sizeof chains);
#pragma omp taskgroup
  for (int s = 0; s < 8; s++) {
#pragma omp task firstprivate(s)
    {
      marline_depend_share();
      for (int p = 0; p < 4; p++) {
#pragma omp task firstprivate(s, p) depend(inout : order[s])
        {
          for (int i = 0; i < 5; i++) {
            usleep(10);
#pragma omp task depend(inout : chains[s]) firstprivate(s, p, i)
            CHECK_EQ(chains[s]++, p * 5 + i);
          }
        }
      }
    }
  }
  for (int s = 0; s < 8; s++) CHECK_EQ(chains[s], 20);
}

/* A producer with a dependence on what its tasks work on: they do not wait for it, though it waits for them; a task
 * that comes after them waits for them. */
static void same_address(void) {
  static long x;
  marline_event_t made = MARLINE_EVENT_INIT;
  x = 0;
#pragma omp task depend(inout : x) shared(made) untied
  {
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : x) firstprivate(i)
      {
        usleep(20);
        CHECK_EQ(x++, i);
      }
#pragma omp task depend(in : x) firstprivate(i)
      CHECK_EQ(x, i + 1);
    }
    marline_event_fulfill(&made);
#pragma omp taskwait
    CHECK_EQ(x, 10);
  }
  marline_event_wait(&made);
#pragma omp task depend(in : x)
  CHECK_EQ(x, 10);
#pragma omp taskwait
}

/* Waits, undeferred and final tasks of one producer see the tasks of another. */
static void waits(void) {
  static long y, z;
  static char made __attribute__((unused));
  y = z = 0;
#pragma omp task depend(out : made)
  {
#pragma omp task depend(out : y)
    {
      usleep(300);
      y = 1;
    }
#pragma omp task depend(out : z)
    {
      usleep(600);
      z = 1;
    }
  }
#pragma omp task depend(in : made)
  {
#pragma omp taskwait depend(in : y)
    CHECK_EQ(y, 1);
#pragma omp task if (0) depend(in : z)
    CHECK_EQ(z, 1);
  }
#pragma omp taskwait
}

/* Sets: members come from all producers. omp_all_memory comes after everything that was created before it. */
static void sets(void) {
  static long inside, count, total;
  inside = count = total = 0;
  const marline_dependence_t exclusive[] = {{&count, MARLINE_MUTEXINOUTSET}}, all[] = {{NULL, MARLINE_OUT}},
                             set[] = {{&total, MARLINE_INOUTSET}};
  for (int p = 0; p < 5; p++) {
#pragma omp task
    for (int i = 0; i < 10; i++) {
      marline_task_depend(exclusive, 1);
#pragma omp task
      {
        CHECK_EQ(inside, 0);
        inside = 1;
        count++;
        inside = 0;
      }
      marline_task_depend(set, 1);
#pragma omp task
      {
        usleep(1);
#pragma omp atomic
        total++;
      }
    }
  }
#pragma omp taskwait
#pragma omp task
  {
    marline_task_depend(all, 1);
#pragma omp task
    {
      CHECK_EQ(count, 50);
      CHECK_EQ(total, 50);
      usleep(100);
      count = -1;
    }
  }
#pragma omp taskwait
#pragma omp task
  {
#pragma omp task depend(in : count)
    CHECK_EQ(count, -1);
  }
#pragma omp taskwait
}

int main(void) {
  for (int round = 0; round < 10; round++) {
#pragma omp parallel
#pragma omp single
    {
      short_sharers();
      marline_depend_share();
      for (int way = 0; way < 3; way++) stencils(way);
#pragma omp taskgroup
      {
        same_address();
        waits();
        marline_depend_share(); /* no effect */
        sets();
      }
    }
  }
  return 0;
}
