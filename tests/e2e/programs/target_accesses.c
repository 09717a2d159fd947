// SPDX-License-Identifier: Apache-2.0
// Target regions among tasks, for marline check --dependences: target_accesses CASE. Each case ends with the same
// result on the host and on a device, by luck in the wrong ones.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 64 };

static double a[kCount], b[kCount];

static double sum(const double* x) {
  double all = 0;
  for (int i = 0; i < kCount; ++i) all += x[i];
  return all;
}

static void fill(void) {
#pragma omp target nowait map(tofrom : a) depend(out : a)
  for (int i = 0; i < kCount; ++i) a[i] += i;
}

// Regions, tasks and the creator take turns by clauses and a taskwait.
static void chain_right(void) {
  fill();
#pragma omp task depend(in : a) depend(out : b)
  for (int i = 0; i < kCount; ++i) b[i] = a[i];
#pragma omp target nowait map(tofrom : b) depend(inout : b)
  for (int i = 0; i < kCount; ++i) b[i] *= 2;
  fill();
#pragma omp taskwait
  if (sum(a) != sum(b)) abort();
}

// A region that is not deferred belongs to the task that meets it.
static void undeferred_right(void) {
#pragma omp target map(tofrom : a)
  for (int i = 0; i < kCount; ++i) a[i] += i;
  if (sum(a) < 0) abort();
#pragma omp task depend(inout : a)
  {
#pragma omp target map(tofrom : a)
    for (int i = 0; i < kCount; ++i) a[i] += i;
  }
  fill();
#pragma omp taskwait
}

static void inner_right(void) {
#pragma omp target nowait map(tofrom : a) depend(out : a)
  {
#pragma omp parallel for
    for (int i = 0; i < kCount; ++i) a[i] += i;
#pragma omp task shared(a)
    a[0] = 1;
#pragma omp taskwait
  }
#pragma omp task depend(in : a)
  if (sum(a) < 0) abort();
#pragma omp taskwait
}

// The barrier at the region's end waits for its task. Clang calls the code of a region on the host without an initial
// task, and so without the barrier.
static void barrier_right(void) {
#pragma omp target nowait map(tofrom : a) depend(out : a)
  {
#pragma omp task shared(a)
    a[0] = 1;
  }
#pragma omp task depend(in : a)
  if (sum(a) < 0) abort();
#pragma omp taskwait
}

static void league_right(void) {
#pragma omp target teams distribute parallel for num_teams(2) map(tofrom : a) nowait depend(out : a)
  for (int i = 0; i < kCount; ++i) a[i] += i;
#pragma omp task depend(in : a)
  if (sum(a) < 0) abort();
#pragma omp taskwait
}

static void data_right(void) {
#pragma omp target enter data map(to : a) nowait depend(out : a)
  fill();
#pragma omp target exit data map(from : a) nowait depend(out : a)
#pragma omp task depend(in : a)
  if (sum(a) < 0) abort();
#pragma omp taskwait
}

static void clause_missing(void) {
  fill();
#pragma omp task
  if (sum(a) < 0) abort();
#pragma omp taskwait
}

static void wait_missing(void) {
  fill();
  if (sum(a) < 0) abort();
#pragma omp taskwait
}

// Only copies tell of this: the kernel works on a device.
static void update_missing(void) {
#pragma omp target enter data map(to : a)
#pragma omp target nowait map(tofrom : a) depend(out : a)
  for (int i = 0; i < kCount; ++i) a[i] += i;
#pragma omp target update from(a) nowait depend(in : a)
#pragma omp task depend(in : a)
  if (sum(a) < 0) abort();
#pragma omp taskwait
#pragma omp target exit data map(delete : a)
}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*code)(void);
} cases[] = {CASE(chain_right), CASE(undeferred_right), CASE(inner_right),  CASE(barrier_right), CASE(league_right),
             CASE(data_right),  CASE(clause_missing),   CASE(wait_missing), CASE(update_missing)};

int main(int count, char** arguments) {
#pragma omp parallel
#pragma omp single
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (count > 1 && strcmp(cases[i].name, arguments[1]) == 0) cases[i].code();
  }
  printf("done\n");
  return 0;
}
