/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependence kinds one by one: what orders and what does not (OpenMP 5.1, 2.19.11). Also array sections, the same
 * address several times in one clause, iterators, scopes (only siblings are ordered), and depobj.
 *
 * Covers: task(firstprivate, depend:in/out/inout/mutexinoutset/depobj/iterator), depobj(depend, update, destroy)
 */
#include "../check.h"
#include <omp.h>

enum { kTasks = 60 };

static void chains(void) {
  int x[4] = {0};
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 4 * kTasks; t++) {
#pragma omp task depend(inout : x[t % 4]) firstprivate(t) shared(x)
    {
      CHECK_EQ(x[t % 4], t / 4);
      x[t % 4]++;
    }
  }
}

/* Readers between two writers run in any order and at the same time, but never beside a writer. */
static void readers_and_writers(void) {
  int version = 0, readers = 0;
#pragma omp parallel
#pragma omp single
  for (int w = 0; w < kTasks; w++) {
#pragma omp task depend(out : version) firstprivate(w) shared(version, readers)
    {
      CHECK_EQ(version, w);
      CHECK_EQ(readers, 5 * w);
      version++;
    }
    for (int r = 0; r < 5; r++) {
#pragma omp task depend(in : version) firstprivate(w) shared(version, readers)
      {
        CHECK_EQ(version, w + 1);
#pragma omp atomic
        readers++;
        CHECK_EQ(version, w + 1);
      }
    }
  }
}

/* mutexinoutset: one at a time, on each of several addresses, and no order among the set. */
static void mutual_exclusion(void) {
  int busy[3] = {0}, count[3] = {0}, started = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : count[0], count[1], count[2]) shared(started)
    started = 1;
    for (int t = 0; t < 3 * kTasks; t++) {
      int a = t % 3, b = (t + 1) % 3;
#pragma omp task depend(mutexinoutset : count[a], count[b]) firstprivate(a, b) shared(busy, count, started)
      {
        CHECK_EQ(started, 1);
        CHECK_EQ(__atomic_fetch_add(&busy[a], 1, __ATOMIC_RELAXED), 0);
        CHECK_EQ(__atomic_fetch_add(&busy[b], 1, __ATOMIC_RELAXED), 0);
        count[a]++;
        count[b]++;
        __atomic_fetch_sub(&busy[a], 1, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&busy[b], 1, __ATOMIC_RELAXED);
      }
    }
#pragma omp task depend(in : count[0], count[1], count[2]) shared(count)
    for (int a = 0; a < 3; a++) CHECK_EQ(count[a], 2 * kTasks);
  }
}

/* The compilers pass only the first address of a section: equal starts are the same dependence. */
static void array_sections(void) {
  int data[100] = {0};
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTasks; t++) {
#pragma omp task depend(out : data[0 : 50]) shared(data) firstprivate(t)
    for (int i = 0; i < 50; i++) data[i] = t;
#pragma omp task depend(in : data[0 : 50]) depend(out : data[50 : 50]) shared(data)
    for (int i = 0; i < 50; i++) data[50 + i] = data[i] + 1;
#pragma omp task depend(inout : data[50 : 50]) depend(in : data[0 : 50]) shared(data) firstprivate(t)
    for (int i = 0; i < 50; i++) CHECK_EQ(data[50 + i], t + 1);
  }
}

/* in + out on one address is inout, however often and in whatever order it is named. */
static void repeated_addresses(void) {
  int x = 0, *alias = &x;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTasks; t += 3) {
#pragma omp task depend(in : x, *alias, x) depend(out : x) shared(x) firstprivate(t)
    CHECK_EQ(x++, t);
#pragma omp task depend(out : *alias, x) depend(in : x) shared(x) firstprivate(t)
    CHECK_EQ(x++, t + 1);
#pragma omp task depend(inout : x, x, x, *alias) shared(x) firstprivate(t)
    CHECK_EQ(x++, t + 2);
  }
}

static void iterators(int n) {
  int cells[64] = {0};
#pragma omp parallel
#pragma omp single
  for (int round = 1; round <= 10; round++) {
    for (int i = 0; i < n; i++) {
#pragma omp task depend(inout : cells[i]) shared(cells) firstprivate(i)
      cells[i]++;
    }
#pragma omp task depend(iterator(i = 0 : n), inout : cells[i]) shared(cells) firstprivate(round)
    for (int i = 0; i < n; i++) CHECK_EQ(cells[i], round);
#if !defined __clang__ || __clang_major__ >= 19 /* older ones overrun their own array with two iterators */
#pragma omp task depend(iterator(i = 0 : 8, j = 0 : n / 8), in : cells[i * (n / 8) + j]) shared(cells)
    for (int i = 0; i < n; i++) CHECK_EQ(cells[i], round);
#endif
  }
}

/* Dependences order siblings only: children of different parents may use one address freely. */
static void scopes(void) {
  int x = 0, total = 0;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 10; t++) {
#pragma omp task depend(inout : x) shared(x, total) firstprivate(t)
    {
      int local = 0;
      for (int c = 0; c < 10; c++) {
#pragma omp task depend(inout : x) shared(local, total) firstprivate(c)
        {
          CHECK_EQ(local, c);
          local++;
#pragma omp atomic
          total++;
        }
      }
#pragma omp taskwait
      CHECK_EQ(local, 10);
      CHECK_EQ(x, t);
      x++;
    }
  }
  CHECK_EQ(total, 100);
}

static void objects(void) {
  int x = 0, y = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_depend_t on_x, on_y;
#pragma omp depobj(on_x) depend(inout : x)
#pragma omp depobj(on_y) depend(in : y)
    for (int t = 0; t < kTasks; t++) {
#pragma omp task depend(depobj : on_x) shared(x) firstprivate(t)
      CHECK_EQ(x++, t);
#pragma omp task depend(inout : y) shared(y) firstprivate(t)
      CHECK_EQ(y++, t);
#pragma omp task depend(depobj : on_x, on_y) shared(x, y) firstprivate(t)
      {
        CHECK_EQ(x, t + 1);
        CHECK_EQ(y, t + 1);
      }
    }
#pragma omp depobj(on_x) update(in)
#pragma omp task depend(depobj : on_x) shared(x)
    CHECK_EQ(x, kTasks);
#pragma omp depobj(on_x) update(out)
#pragma omp task depend(depobj : on_x) shared(x)
    x = -1;
#pragma omp task depend(in : x) shared(x)
    CHECK_EQ(x, -1);
#pragma omp taskwait depend(depobj : on_x)
    CHECK_EQ(x, -1);
#pragma omp depobj(on_x) destroy
#pragma omp depobj(on_y) destroy
  }
}

int main(void) {
  for (int round = 0; round < 10; round++) {
    chains();
    readers_and_writers();
    mutual_exclusion();
    array_sections();
    repeated_addresses();
    iterators(64);
    iterators(8);
    iterators(0);
    scopes();
    objects();
  }
  return 0;
}
