/* SPDX-License-Identifier: Apache-2.0
 *
 * Constructs inside the iterations of a persistent graph: taskloop, task reductions, taskgroup, graphs inside a graph's
 * tasks, tasks of before the graph, dropped tasks, iterations that differ. Each check knows its result.
 *
 * Covers: marline persistent graphs, taskloop, taskgroup(task_reduction), task(in_reduction)
 */
#include "../check.h"

#include <marline/marline.h>
#include <omp.h>

enum { kIterations = 7, kCells = 40 };

static int cells[kCells];

/* A taskloop's pattern is allocated first and spawned last, or never. The number of tasks changes on the way. */
static void check_taskloop(int mode) {
  memset(cells, 0, sizeof cells);
  long sum = 0;
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, mode) {
    int tasks = it < 4 ? 5 : 8;
#pragma omp task depend(out : sum) shared(sum)
    sum += 1;
#pragma omp taskloop num_tasks(tasks) firstprivate(it)
    for (int i = 0; i < kCells; ++i) cells[i] += it + 1;
#pragma omp task depend(inout : sum) shared(sum)
    sum += 1;
  }
  for (int i = 0; i < kCells; ++i) CHECK_EQ(cells[i], kIterations * (kIterations + 1) / 2);
  CHECK_EQ(sum, 2 * kIterations);
}

static void check_reduction(int mode) {
  long sum = 0, expected = 0;
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, mode) {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 10; ++i)
#pragma omp task in_reduction(+ : sum) firstprivate(i, it)
      sum += i + it;
    expected += 45 + 10 * it;
    CHECK_EQ(sum, expected); /* the end of the taskgroup combined it */
  }
  CHECK_EQ(sum, expected);
}

/* A task of the graph has a graph of its own; the descriptors of both are used again. */
static void check_nested(int mode) {
  int outer = 0, inner[4] = {0};
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, mode) {
    for (int k = 0; k < 4; ++k)
#pragma omp task depend(inout : inner[k]) shared(inner) firstprivate(k, mode)
      MARLINE_GRAPH_FOR(int n = 0, n < 5, ++n, mode) {
#pragma omp task depend(inout : inner[k]) shared(inner) firstprivate(k)
        inner[k] += 1;
#pragma omp task depend(inout : inner[k]) shared(inner) firstprivate(k)
        inner[k] += 2;
      }
#pragma omp task depend(in : inner[0], inner[1], inner[2], inner[3]) depend(inout : outer) shared(outer, inner)
    outer += inner[0] + inner[3];
  }
  int expected = 0;
  for (int it = 1; it <= kIterations; ++it) expected += 2 * 15 * it;
  CHECK_EQ(outer, expected);
}

/* The first iteration comes after the producer's earlier tasks, whatever kind of access they had. */
static void check_before(int mode) {
  int x = 0, y = 0, seen = 0, total = 0;
#pragma omp task depend(out : x) shared(x)
  {
#pragma omp taskyield
    x = 1;
  }
  for (int r = 0; r < 3; ++r)
#pragma omp task depend(in : y) shared(y, seen)
  {
    CHECK_EQ(y, 0);
#pragma omp taskyield
#pragma omp atomic
    ++seen;
  }
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, mode) {
#pragma omp task depend(in : x) depend(inout : total) shared(x, total)
    total += x;
#pragma omp task depend(inout : y) shared(y, seen)
    {
      int readers;
#pragma omp atomic read
      readers = seen;
      CHECK_EQ(readers, 3);
      ++y;
    }
  }
  CHECK_EQ(total, kIterations);
  CHECK_EQ(y, kIterations);
#pragma omp taskwait
}

/* Tasks are dropped one by one; the order through them stays, and the others' record too. */
static void check_drop(int mode) {
  int x = 0, created = 0;
  marline_graph_t* g = marline_graph_begin(mode);
  for (int it = 0; it < kIterations; ++it) {
    marline_graph_iterate(g);
    for (int k = 0; k < 5; ++k) {
      int gone = it >= 4 && (k == 1 || k == 4), goes = it == 4 && gone;
      if (goes) marline_graph_drop_task(g);
      if (gone) continue;
      ++created;
#pragma omp task depend(inout : x) shared(x) firstprivate(it, k)
      {
        if (k == 0)
          x = x * 2 + it;
        else
          x += k;
      }
    }
  }
  marline_graph_end(g);
  int expected = 0;
  for (int it = 0; it < kIterations; ++it)
    for (int k = 0; k < 5; ++k)
      if (!(it >= 4 && (k == 1 || k == 4))) expected = k == 0 ? expected * 2 + it : expected + k;
  CHECK_EQ(x, expected);
  CHECK_EQ(created, 5 * kIterations - 2 * (kIterations - 4));
}

/* At each position in turn, an iteration has another task than the record. */
static void check_changes(int mode) {
  for (int position = 0; position <= 6; ++position) {
    unsigned x = 1, expected = 1;
    MARLINE_GRAPH_FOR(int it = 0, it < 2 * kIterations, ++it, mode) {
      for (int k = 0; k < 6; ++k) {
        if (k == position && it % 5 == 4) {
#pragma omp task depend(inout : x) shared(x)
          x = 5 * x + 3;
          expected = 5 * expected + 3;
        }
#pragma omp task depend(inout : x) shared(x) firstprivate(k)
        x = 3 * x + (unsigned)k;
        expected = 3 * expected + (unsigned)k;
        if (it % 5 == 3 && k == position) break; /* of the tasks: fewer than in the record */
      }
    }
    CHECK_EQ(x, expected);
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int mode = MARLINE_GRAPH_BARRIER; mode <= MARLINE_GRAPH_NOWAIT; ++mode) {
    check_taskloop(mode);
    check_reduction(mode);
    check_nested(mode);
    check_before(mode);
    check_drop(mode);
    check_changes(mode);
  }
  return 0;
}
