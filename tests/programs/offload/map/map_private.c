/* SPDX-License-Identifier: Apache-2.0
 *
 * Private and firstprivate variables of every shape in regions, and defaultmap's rules for variables without a clause.
 *
 * Covers: target(private, firstprivate, defaultmap:tofrom/to/from/alloc/firstprivate/none/default)
 * Covers (clang22): target(defaultmap:present)
 */
#include "../device.h"

#define N 30

typedef struct {
  int x;
  double y[3];
} Record;

static void copies(int n) {
  char bytes[3] = {1, 2, 3};
  int array[N], vla[n], ok = 0;
  Record record = {4, {5, 6, 7}};
  int* pointer = array;
  for (int i = 0; i < N; i++) array[i] = i;
  for (int i = 0; i < n; i++) vla[i] = 2 * i;
#pragma omp target firstprivate(bytes, array, record, vla, n) map(from : ok)
  {
    ok = bytes[2] == 3 && array[N - 1] == N - 1 && record.x == 4 && record.y[2] == 7 && vla[n - 1] == 2 * (n - 1);
    bytes[2] = 0;
    record.x = array[N - 1] = vla[n - 1] = 0;
    n = 0;
  }
  CHECK_EQ(ok, 1);
  CHECK(bytes[2] == 3 && array[N - 1] == N - 1 && record.x == 4 && vla[n - 1] == 2 * (n - 1));
#pragma omp target firstprivate(pointer) map(from : ok) /* the host's address as a number */
  ok = pointer != NULL;
  CHECK_EQ(ok, 1);
  CHECK(pointer == array);
  long sum = 0;
#pragma omp target private(bytes, array, record, n) map(from : sum)
  {
    n = 5;
    for (int i = 0; i < N; i++) array[i] = n;
    bytes[0] = 1;
    record.y[1] = 2;
    sum = array[3] + bytes[0] + (long)record.y[1];
  }
  CHECK_EQ(sum, 8);
  CHECK(array[3] == 3 && record.y[1] == 6 && n == 10);
}

/* Many firstprivate arguments of one construct, small and large. */
static void many_arguments(void) {
  char a[1] = {1}, b[2] = {0, 2}, c[3] = {0, 0, 3}, d[1000];
  short e[5] = {0, 0, 0, 0, 5};
  long double f[2] = {0, 6};
  double result = 0;
  memset(d, 4, sizeof d);
#pragma omp target firstprivate(a, b, c, d, e, f) map(tofrom : result)
  result = a[0] + b[1] + c[2] + d[999] + e[4] + (double)f[1];
  CHECK_NEAR(result, 21, 0);
}

static void default_scalars(void) {
  int scalar = 1, seen = 0;
#pragma omp target defaultmap(tofrom : scalar)
  scalar++;
  CHECK_EQ(scalar, 2);
#pragma omp target defaultmap(to : scalar) map(from : seen)
  seen = scalar++;
  CHECK_EQ(seen, 2);
  CHECK_COPY(scalar, 2, 3);
  scalar = 2;
#pragma omp target defaultmap(from : scalar)
  scalar = 9;
  CHECK_EQ(scalar, 9);
#pragma omp target defaultmap(alloc : scalar) map(from : seen)
  {
    scalar = 3;
    seen = scalar;
  }
  CHECK_EQ(seen, 3);
  CHECK_COPY(scalar, 9, 3);
  scalar = 9;
#pragma omp target defaultmap(firstprivate : scalar) map(from : seen)
  seen = scalar++;
  CHECK_EQ(seen, 9);
  CHECK_EQ(scalar, 9);
#pragma omp target defaultmap(default : scalar)
  scalar = 0;
  CHECK_EQ(scalar, 9);
#pragma omp target defaultmap(none : scalar) map(tofrom : scalar)
  scalar++;
  CHECK_EQ(scalar, 10);
}

static void default_aggregates(void) {
  int array[N] = {1}, seen = 0;
  Record record = {1, {2, 3, 4}};
#pragma omp target defaultmap(to : aggregate) map(from : seen)
  {
    seen = array[0] + record.x;
    array[0] = record.x = 0;
  }
  CHECK_EQ(seen, 2);
  CHECK_COPY(array[0] + record.x, 2, 0);
  array[0] = record.x = 1;
#pragma omp target defaultmap(firstprivate : aggregate) map(from : seen)
  {
    seen = array[0] + record.x + 1;
    array[0] = record.x = 0;
  }
  CHECK_EQ(seen, 3);
  CHECK_EQ(array[0], 1);
#pragma omp target defaultmap(tofrom : aggregate)
  array[0] = record.x = 5;
  CHECK_EQ(array[0] + record.x, 10);
#pragma omp target defaultmap(alloc : aggregate) map(from : seen)
  {
    array[0] = record.x = 6;
    seen = array[0];
  }
  CHECK_EQ(seen, 6);
  CHECK_COPY(array[0], 5, 6);
}

static void default_pointers(void) {
  int array[N] = {0}, *p = array, is_null = 0;
#pragma omp target data map(tofrom : array)
  {
#pragma omp target defaultmap(default : pointer) /* becomes the device's */
    p[1] = 1;
#pragma omp target defaultmap(firstprivate : pointer) map(from : is_null)
    is_null = p == NULL; /* keeps the host's value */
#pragma omp target defaultmap(tofrom : pointer)
    p = NULL;
  }
  CHECK_EQ(array[1], 1);
  CHECK_EQ(is_null, 0);
  CHECK(p == NULL);
}

/* One rule per category in one construct, and one for all. */
static void together(void) {
  int scalar = 1, array[N] = {1}, *p = array;
#pragma omp target defaultmap(tofrom : scalar) defaultmap(to : aggregate) defaultmap(firstprivate : pointer)
  {
    scalar += array[0] + (p != NULL);
    array[0] = 0;
  }
  CHECK_EQ(scalar, 3);
  CHECK_COPY(array[0], 1, 0);
#pragma omp target defaultmap(tofrom)
  scalar = array[2] = 8;
  CHECK_EQ(scalar + array[2], 16);
#if defined(__clang__) && __clang_major__ >= 22 /* Clang before 22 makes scalars firstprivate */
#pragma omp target enter data map(to : scalar, array)
#pragma omp target defaultmap(present : scalar) defaultmap(present : aggregate)
  scalar = array[2] = 9;
#pragma omp target exit data map(from : scalar, array)
  CHECK_EQ(scalar + array[2], 18);
#endif
}

int main(void) {
  copies(10);
  many_arguments();
  default_scalars();
  default_aggregates();
  default_pointers();
  together();
  return 0;
}
