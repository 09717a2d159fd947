/* SPDX-License-Identifier: Apache-2.0
 *
 * Several list items of one construct in one piece: the construct counts the piece once, and what the items say of it
 * is taken together (OpenMP 5.2, section 5.8.3).
 *
 * Covers: target(map:to/from), target data(map:to/from), target enter data(map:to/alloc),
 *  target exit data(map:from/release/delete), omp_target_is_present
 */
#include "../device.h"

#define N 64

static int whole[N];

#ifdef __clang__ /* GCC wants each variable in one clause */
static void directions(void) {
  int x[N] = {0}, v = 0, *p = whole;
#pragma omp target map(to : x) map(from : x)
  x[N - 1] = x[0] + 1;
  CHECK_EQ(x[N - 1], 1);
#pragma omp target map(from : p[0 : N]) map(to : p[0 : N])
  p[N - 1] = p[0] + 2;
  CHECK_EQ(p[N - 1], 2);
#pragma omp target data map(to : v) map(from : v)
  {
#pragma omp target map(v)
    v = 7;
    CHECK_COPY(v, 0, 7);
  }
  CHECK_EQ(v, 7);
  CHECK_PRESENT(x, 0);
  CHECK_PRESENT(p, 0);
  CHECK_PRESENT(&v, 0);
}

static void deleted(void) {
  int* p = whole;
#pragma omp target enter data map(to : p[0 : N])
#pragma omp target enter data map(to : p[0 : N])
#pragma omp target map(p[0 : N])
  p[1] = 9;
#pragma omp target exit data map(from : p[0 : N]) map(delete : p[0 : N])
  CHECK_PRESENT(p, 0);
  CHECK_EQ(p[1], 9);
}
#endif

/* Two sections of what is present already: one construct counts once, at its end as at its begin. */
static void sections(void) {
  int *p = whole, *q = whole + 40;
  p[0] = q[0] = 0;
#pragma omp target enter data map(to : p[0 : N])
#pragma omp target enter data map(to : p[0 : 10], q[0 : 10])
#pragma omp target map(p[0 : 10], q[0 : 10])
  p[0] = q[0] = 5;
  CHECK_COPY(p[0], 0, 5);
#pragma omp target exit data map(release : p[0 : 10]) map(from : q[0 : 10])
  CHECK_PRESENT(p, 1);
  CHECK_COPY(q[0], 0, 5);
#pragma omp target exit data map(from : p[0 : 10]) map(release : q[0 : 10])
  CHECK_PRESENT(p, 0);
  CHECK_EQ(p[0], 5);
  CHECK_COPY(q[0], 0, 5);
}

/* Entered by two items, left by one. */
static void unequal(void) {
  int *p = whole, *q = whole + 40;
#pragma omp target enter data map(alloc : p[0 : N])
#pragma omp target enter data map(to : p[0 : 10], q[0 : 10])
#pragma omp target exit data map(release : p[0 : N])
  CHECK_PRESENT(p, 1);
#pragma omp target exit data map(release : p[0 : N])
  CHECK_PRESENT(p, 0);
}

int main(void) {
#ifdef __clang__
  directions();
  deleted();
#endif
  sections();
  unequal();
  return 0;
}
