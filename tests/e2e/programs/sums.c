// SPDX-License-Identifier: Apache-2.0
//
// tests/e2e/trace/test_aggregate.py: sums SEED [STEPS] runs STEPS random steps, whose numbers of tasks, loops and
// regions depend on the seed alone.
#include <stdio.h>
#include <stdlib.h>

#include <omp.h>

static unsigned state;
static _Thread_local volatile double cell;

static int draw(int most) {
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 16) % most;
}

static void spin(int count) {
  for (int i = 0; i < count; ++i) cell += i;
}

static void leaf(int count) {
#pragma omp task
  spin(count);
}

static void tree(int depth) {
  if (depth == 0) return;
#pragma omp task
  {
    tree(depth - 1);
#pragma omp taskwait
    spin(50);
  }
  tree(depth - 1);
}

static void tasks(int count) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < count; ++i) leaf(100);
#pragma omp taskgroup
    tree(count % 5);
  }
}

static void loop(int count) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < count; ++i) spin(20);
}

static void several(int count) {
#pragma omp parallel
  for (int turn = 0; turn < count; ++turn) {
#pragma omp for schedule(static)
    for (int i = 0; i < 8; ++i) spin(30);
#pragma omp single
    spin(10);
#pragma omp critical
    spin(10);
#pragma omp sections
    {
#pragma omp section
      spin(5);
#pragma omp section
      spin(5);
    }
  }
}

static void nested(int count) {
#pragma omp parallel
  {
    spin(20);
#pragma omp parallel num_threads(2)
    spin(count);
  }
}

int main(int argc, char** argv) {
  state = (unsigned)atoi(argv[1]);
  omp_set_max_active_levels(2);
  const int steps = argc > 2 ? atoi(argv[2]) : 40;
  for (int i = 0; i < steps; ++i) {
    const int count = 1 + draw(30);
    switch (draw(4)) {
      case 0: tasks(count); break;
      case 1: loop(count); break;
      case 2: several(1 + count % 4); break;
      default: nested(count); break;
    }
  }
  printf("%d\n", cell >= 0);
  return 0;
}
