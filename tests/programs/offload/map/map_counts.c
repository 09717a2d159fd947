/* SPDX-License-Identifier: Apache-2.0
 *
 * Reference counts: data comes back when the last construct that maps it ends, not before; `delete` ends it at once,
 * and giving back what is absent does nothing.
 *
 * Covers: target data(map), target enter data(map:to), target exit data(map:from/release/delete), omp_target_is_present
 */
#include "../device.h"

#define N 64

static void nested_data(void) {
  int x[N] = {0};
#pragma omp target data map(tofrom : x)
  {
#pragma omp target data map(tofrom : x)
    {
#pragma omp target data map(from : x)
      {
#pragma omp target
        x[0] = 1;
      }
      CHECK_COPY(x[0], 0, 1);
      CHECK_PRESENT(x, 1);
    }
    CHECK_COPY(x[0], 0, 1);
    CHECK_PRESENT(x, 1);
  }
  CHECK_EQ(x[0], 1);
  CHECK_PRESENT(x, 0);
}

static void entered_many_times(void) {
  int x[N] = {0};
  for (int i = 0; i < 10; i++) {
#pragma omp target enter data map(to : x)
  }
#pragma omp target
  x[1] = 5;
  for (int i = 0; i < 9; i++) {
#pragma omp target exit data map(from : x)
    CHECK_COPY(x[1], 0, 5);
    CHECK_PRESENT(x, 1);
  }
#pragma omp target exit data map(from : x)
  CHECK_EQ(x[1], 5);
  CHECK_PRESENT(x, 0);
}

/* The kind of the last one decides: a release after many froms moves nothing, a from after releases does. */
static void last_decides(void) {
  int x = 1, y = 1;
#pragma omp target enter data map(to : x, y)
#pragma omp target enter data map(to : x, y)
#pragma omp target map(tofrom : x, y)
  x = y = 2;
#pragma omp target exit data map(from : x) map(release : y)
#pragma omp target exit data map(release : x) map(from : y)
  CHECK_COPY(x, 1, 2);
  CHECK_EQ(y, 2);
  CHECK_PRESENT(&x, 0);
  CHECK_PRESENT(&y, 0);
}

static void deleted(void) {
  int x[N] = {0};
  for (int i = 0; i < 5; i++) {
#pragma omp target enter data map(to : x)
  }
#pragma omp target exit data map(delete : x)
  CHECK_PRESENT(x, 0);
  /* Deleted under an enclosing construct: its end finds the data absent and does nothing. */
#pragma omp target data map(tofrom : x)
  {
#pragma omp target
    x[2] = 9;
#pragma omp target exit data map(delete : x)
    CHECK_PRESENT(x, 0);
    CHECK_COPY(x[2], 0, 9);
  }
  CHECK_COPY(x[2], 0, 9);
  CHECK_PRESENT(x, 0);
}

static void absent(void) {
  int x = 3, array[N] = {4};
#pragma omp target exit data map(from : x)
#pragma omp target exit data map(release : x, array)
#pragma omp target exit data map(delete : array)
#pragma omp target update to(x) from(array)
  CHECK_EQ(x, 3);
  CHECK_EQ(array[0], 4);
  CHECK_PRESENT(&x, 0);
}

/* A part of what is mapped is present, and counts for the whole. */
static void parts(void) {
  int x[N] = {0};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x[10 : 20])
#pragma omp target exit data map(from : x)
  CHECK_PRESENT(x, 1);
#pragma omp target map(tofrom : x[10 : 20])
  x[10] = 8;
  CHECK_COPY(x[10], 0, 8);
#pragma omp target exit data map(from : x[10 : 1])
  CHECK_PRESENT(x, 0);
  CHECK_PRESENT(x + 10, 0);
  CHECK_EQ(x[10], 8);
}

/* A target construct counts, too: its own maps last while it runs. */
static void construct_counts(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x = 1;
  CHECK_EQ(x, 1);
  CHECK_PRESENT(&x, 0);
#pragma omp target enter data map(to : x)
#pragma omp target map(from : x)
  x = 2;
  CHECK_COPY(x, 1, 2);
  CHECK_PRESENT(&x, 1);
#pragma omp target exit data map(from : x)
  CHECK_EQ(x, 2);
}

/* Neighbours in memory are different objects, even without a gap. */
static void neighbours(void) {
  static int block[3 * N];
  int *a = block, *b = block + N, *c = block + 2 * N;
#pragma omp target enter data map(to : a[0 : N])
#pragma omp target enter data map(to : c[0 : N])
#pragma omp target enter data map(to : b[0 : N])
#pragma omp target
  for (int i = 0; i < N; i++) {
    a[i] = 1;
    b[i] = 2;
    c[i] = 3;
  }
#pragma omp target exit data map(from : b[0 : N])
  CHECK_PRESENT(b - 1, 1);
  CHECK_PRESENT(b, 0);
  CHECK_PRESENT(b + N - 1, 0);
  CHECK_PRESENT(b + N, 1);
#pragma omp target exit data map(from : a[0 : N], c[0 : N])
  for (int i = 0; i < 3 * N; i++) CHECK_EQ(block[i], i / N + 1);
}

int main(void) {
  nested_data();
  entered_many_times();
  last_decides();
  deleted();
  absent();
  parts();
  construct_counts();
  neighbours();
  return 0;
}
