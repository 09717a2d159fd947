/* SPDX-License-Identifier: Apache-2.0
 *
 * A task that creates its own successor and ends (a poller, an event loop), again and again: memory does not grow with
 * the number of generations. What else a generation does is drawn at random: children that live on, groups, waits,
 * dependences, a task in between that creates the successor. Usage: successors GENERATIONS.
 *
 * Covers: task, task(untied, depend:inout, if), taskgroup, taskwait
 */
#include "../resident.h"
#include <omp.h>

enum { kShapes = 8, kMostWorkers = 100, kMostNeighbours = 20, kGrowthKib = 1 << 10 };

static long left, half, before;
static int workers; /* that have not run: the newest task runs first, so a thread alone may leave them for long */
static int mixed;   /* every generation draws its shape; else `shape` is that of all */
static int shape;
static unsigned drawn;

static void generation(void);

static void work(void) {
#pragma omp atomic
  workers--;
}

static int living_workers(void) {
  int living;
#pragma omp atomic read
  living = workers;
  return living;
}

/* One generation at a time draws, so this needs no lock. */
static int draw(int most) {
  drawn = drawn * 1103515245u + 12345u;
  return (int)((drawn >> 16) % (unsigned)most);
}

static void create_next(void) {
#pragma omp task untied
  generation();
}

static void create_next_after_dependences(void) {
  static char order;
#pragma omp task depend(inout : order)
  order++;
#pragma omp task depend(inout : order)
  generation();
}

static void create_workers(int count) {
  for (int i = 0; i < count && living_workers() < kMostWorkers; i++) {
#pragma omp atomic
    workers += 2;
#pragma omp task
    {
#pragma omp task
      work();
      work();
    }
  }
}

/* Tasks that live for some generations, in which all yield. */
static void create_neighbours(void) {
  while (living_workers() < kMostNeighbours) {
#pragma omp atomic
    workers++;
    int turns = 1 + draw(6);
#pragma omp task
    {
      for (int i = 0; i < turns; i++) {
#pragma omp taskyield
      }
      work();
    }
  }
#pragma omp taskyield
}

static void generation(void) {
  if (--left <= 0) return;
  if (left == half) before = resident_kib();
  switch (mixed ? draw(kShapes) : shape) {
    case 0: create_next(); break;
    case 1: {
#pragma omp task
      generation();
      break;
    }
    case 2: /* a task in between */
#pragma omp task
      create_next();
      break;
    case 3:
#pragma omp taskgroup
      create_workers(2);
      create_next();
      break;
    case 4:
      create_workers(1 + draw(3));
      create_next();
      break;
    case 5: create_workers(1);
#pragma omp taskwait
#pragma omp task if (0)
      create_next();
      break;
    case 6:
      create_neighbours();
      create_next();
      break;
    default: create_next_after_dependences();
  }
}

static void run(long generations, int of_shape) {
  left = generations;
  half = generations - generations / 4;
  mixed = of_shape == kShapes;
  shape = of_shape;
#pragma omp parallel
#pragma omp single
  generation();
  CHECK_EQ(left, 0);
  CHECK_EQ(workers, 0);
  printf("shape %d: %ld KiB more in the last three quarters\n", of_shape, resident_kib() - before);
  expect_growth_below(before, kSanitizerShare > 1 ? 8 * kGrowthKib : kGrowthKib); /* a sanitizer counts by the thread */
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  for (int of_shape = 0; of_shape <= kShapes; of_shape++) run(atol(argv[1]), of_shape);
  return 0;
}
