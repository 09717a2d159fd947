/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferred device constructs: chains between host and device by dependences, waits of every kind, and values that are
 * taken when the construct is encountered.
 *
 * Covers: target(nowait, depend, firstprivate), target enter data(nowait, depend), target exit data(nowait, depend),
 *  target update(nowait, depend), taskwait(depend:in), taskgroup
 */
#include "../device.h"

#define N 200
#define STEPS 20

/* Several chains count at a time. */
static void count(int* wrong, int is_wrong) {
#pragma omp atomic
  *wrong += is_wrong;
}

/* Every construct with a depend clause is a link: host task, enter, region, update, region, update, exit. */
static void chain(int* array, int* wrong) {
  for (int step = 0; step < STEPS; step++) {
#pragma omp task depend(inout : array[0 : N]) firstprivate(step, wrong)
    for (int i = 0; i < N; i++) {
      count(wrong, array[i] != 3 * step);
      array[i]++;
    }
#pragma omp target enter data map(to : array[0 : N]) depend(inout : array[0 : N]) nowait
#pragma omp target nowait map(tofrom : array[0 : N]) depend(inout : array[0 : N])
    for (int i = 0; i < N; i++) array[i]++;
#pragma omp target update from(array[0 : N / 2]) depend(inout : array[0 : N]) nowait
#pragma omp task depend(inout : array[0 : N]) firstprivate(step, wrong)
    {
      count(wrong, array[0] != 3 * step + 2);
      array[0] += 100; /* on the host only, until the update */
    }
#pragma omp target update to(array[0 : 1]) depend(inout : array[0 : N]) nowait
#pragma omp target nowait map(tofrom : array[0 : N]) depend(inout : array[0 : N])
    {
      array[0] -= 100;
      for (int i = 0; i < N; i++) array[i]++;
    }
#pragma omp target exit data map(from : array[0 : N]) depend(inout : array[0 : N]) nowait
  }
}

static void check_chain(const int* array, int wrong) {
  CHECK_EQ(wrong, 0);
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], 3 * STEPS);
  CHECK_PRESENT(array, 0);
}

static void chains(void) {
  static int many[4][N];
  int array[N] = {0}, wrong = 0;
  chain(array, &wrong);
#pragma omp taskwait
  check_chain(array, wrong);
#pragma omp parallel
#pragma omp single
  {
    for (int c = 0; c < 4; c++) chain(many[c], &wrong);
#pragma omp taskwait
    for (int c = 0; c < 4; c++) check_chain(many[c], wrong);
  }
}

/* Readers beside each other, between two writers. */
static void readers(void) {
  int x = 0, sums[10] = {0};
#pragma omp parallel
#pragma omp single
  {
#pragma omp target enter data map(to : x, sums)
#pragma omp target nowait depend(out : x) map(tofrom : x)
    x = 5;
    for (int i = 0; i < 10; i++) {
#pragma omp target nowait depend(in : x) map(tofrom : x, sums) firstprivate(i)
      sums[i] = x + i;
    }
#pragma omp target nowait depend(inout : x) map(tofrom : x, sums)
    for (int i = 0; i < 10; i++) x += sums[i];
#pragma omp taskwait
#pragma omp target exit data map(from : x, sums)
  }
  CHECK_EQ(x, 5 + 50 + 45);
  CHECK_EQ(sums[9], 14);
}

static void waits(void) {
  int a = 0, b = 0, c = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait depend(out : a) map(tofrom : a)
    a = 1;
#pragma omp taskwait depend(in : a)
    CHECK_EQ(a, 1);
#pragma omp taskgroup
    {
      for (int i = 0; i < 8; i++) {
#pragma omp target nowait map(tofrom : b) depend(inout : b)
        b++;
      }
    }
    CHECK_EQ(b, 8);
#pragma omp target nowait map(tofrom : c)
    c = 1;
  } /* the barrier waits */
  CHECK_EQ(c, 1);
  /* An undeferred construct waits for what it depends on. */
  int x = 0, seen = 0;
#pragma omp task depend(out : x) shared(x)
  x = 7;
#pragma omp target depend(in : x) map(to : x) map(from : seen)
  seen = x;
  CHECK_EQ(seen, 7);
#pragma omp taskwait
#pragma omp target nowait map(tofrom : x)
  x++;
#pragma omp taskwait
  CHECK_EQ(x, 8);
}

/* A scalar that is firstprivate has the value of the moment at which the construct was met. */
static void private_copies(void) {
  enum { kTasks = 12 };
  double out[kTasks];
#pragma omp parallel
#pragma omp single
  {
    int scalar;
    float real;
    int* pointer;
    for (int t = 0; t < kTasks; t++) {
      scalar = t;
      real = t * 0.5F;
      pointer = t % 2 ? &scalar : NULL;
#pragma omp target nowait firstprivate(scalar, real, pointer) map(from : out[t : 1])
      {
        out[t] = scalar + real + (pointer != NULL);
        scalar = 1000;
      }
      scalar = -1;
      real = -1;
      pointer = NULL;
    }
#pragma omp taskwait
    CHECK_EQ(scalar, -1);
  }
  for (int t = 0; t < kTasks; t++) CHECK_NEAR(out[t], 1.5 * t + t % 2, 0);
}

/* Constructs without an order, on disjoint parts of one mapped array. */
static void side_by_side(void) {
  int array[N] = {0};
#pragma omp target data map(tofrom : array)
  {
#pragma omp parallel
#pragma omp for
    for (int t = 0; t < 20; t++) {
#pragma omp target nowait map(tofrom : array[10 * t : 10])
      for (int i = 10 * t; i < 10 * t + 10; i++) array[i] += i;
    }
    CHECK_COPY(array[N - 1], 0, N - 1);
  }
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], i);
}

int main(void) {
  chains();
  readers();
  waits();
  private_copies();
  side_by_side();
  return 0;
}
