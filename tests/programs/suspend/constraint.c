/* SPDX-License-Identifier: Apache-2.0
 *
 * The task scheduling constraint (OpenMP 5.2, section 12.9): while tied tasks are suspended on a thread, it starts only
 * descendants of all of them. On one thread the difference is certain: relaxed, a sibling starts; strict, it does not,
 * while children, untied siblings and whatever comes after the resumption do. On more threads, under strict, trees of
 * tasks check at each start who is suspended there. Usage: constraint relaxed|strict
 *
 * Covers: marline suspension, task(untied), taskwait
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>
#include <sched.h>

enum { kThreads = 8, kLevels = 5, kChildren = 3, kNodes = 1 << 12 };

static int strict;

static void yield_often(void) {
  for (int i = 0; i < 20; i++) {
#pragma omp taskyield
  }
}

/* One thread. A task suspends; then a child of it, a sibling and an untied sibling want to start, and an undeferred one
 * after its resumption has become possible. */
static marline_event_t event = MARLINE_EVENT_INIT;
static int holding, child_saw = -1, sibling_saw = -1, undeferred_saw = -1, untied_saw = -1;

static void one_thread(void) {
#pragma omp parallel num_threads(1)
  {
#pragma omp task
    {
#pragma omp task
      child_saw = holding;
      holding = 1;
      marline_event_wait(&event);
      holding = 0;
    }
    yield_often();
    CHECK_EQ(holding, 1);
    CHECK_EQ(child_saw, 1); /* a descendant of the suspended one, and of this one */
#pragma omp task
    sibling_saw = holding;
    yield_often();
    CHECK_EQ(sibling_saw, strict ? -1 : 1);
#pragma omp task untied
    untied_saw = holding;
    yield_often();
    CHECK_EQ(untied_saw, 1); /* the constraint is on tied tasks */
    marline_event_fulfill(&event);
#pragma omp task if (0)
    undeferred_saw = holding;
    CHECK_EQ(undeferred_saw, strict ? 0 : 1);
#pragma omp taskwait
    CHECK_EQ(sibling_saw, strict ? 0 : 1);
    CHECK_EQ(holding, 0);
  }
}

/* A tree of tasks: node n has the children n * kChildren + 1 ... On each thread, who is suspended there. */
static int suspended[kThreads][kNodes], suspended_count[kThreads], started, breaches;

static int descends(int node, int from) {
  while (node > from) node = (node - 1) / kChildren;
  return node == from;
}

static void check_start(int node) {
  int me = omp_get_thread_num();
  for (int i = 0; i < suspended_count[me]; i++)
    if (!descends(node, suspended[me][i])) __atomic_add_fetch(&breaches, 1, __ATOMIC_RELAXED);
}

static void leave(int node) {
  int me = omp_get_thread_num();
  suspended[me][suspended_count[me]++] = node;
}

static void come_back(int node) {
  int me = omp_get_thread_num(), i = 0;
  while (suspended[me][i] != node) i++;
  suspended[me][i] = suspended[me][--suspended_count[me]];
}

static void visit(int node, int level) {
  check_start(node);
  __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED);
  for (int c = 1; c <= kChildren && level > 0; c++) {
    int child = node * kChildren + c;
    leave(node); /* creation, too, is a task scheduling point */
#pragma omp task firstprivate(child, level) if (child % 5 != 0)
    visit(child, level - 1);
    come_back(node);
    leave(node);
#pragma omp taskyield
    come_back(node);
  }
  leave(node);
  if (node % 2) {
#pragma omp taskwait
  } else {
#pragma omp taskgroup
    for (int c = 0; c < 2; c++) {
#pragma omp task
      sched_yield();
    }
  }
  come_back(node);
}

static void trees(void) {
  int nodes = 0;
  for (int level = 0, width = 1; level <= kLevels; level++, width *= kChildren) nodes += width;
  CHECK(nodes <= kNodes);
  started = breaches = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    visit(0, kLevels);
  }
  CHECK_EQ(started, nodes);
  printf("%d tasks, %d started over a suspended stranger\n", started, breaches);
  if (strict)
    CHECK_EQ(breaches, 0);
  else if (omp_get_max_threads() == 1)
    CHECK(breaches > 0); /* the program would see it */
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  strict = strcmp(argv[1], "strict") == 0;
  omp_set_dynamic(0);
  CHECK(omp_get_max_threads() <= kThreads);
  one_thread();
  for (int round = 0; round < 20; round++) trees();
  return 0;
}
