/* SPDX-License-Identifier: Apache-2.0
 *
 * `present` where the data is there, `hold` that keeps data over a delete, and updates that skip what is absent.
 *
 * Covers: target(map:present), target data(map:present), target enter data(map:present), target exit data(map:present),
 *  target update(to:present, from:present)
 */
#include "../device.h"

#define N 20

static void present(void) {
  int x = 1, array[N] = {0}, seen = 0;
#pragma omp target enter data map(to : x, array)
#pragma omp target map(present, tofrom : x) map(present, alloc : array[3 : 4])
  {
    x++;
    array[4] = 5;
  }
#pragma omp target data map(present, tofrom : array)
  {
#pragma omp target map(present, to : array) map(from : seen)
    seen = array[4];
  }
  CHECK_EQ(seen, 5);
  CHECK_COPY(array[4], 0, 5);
  x = 10;
#pragma omp target update to(present : x)
#pragma omp target map(present, always, from : x)
  x++;
  CHECK_EQ(x, 11);
#pragma omp target update from(present : array[4 : 1])
  CHECK_EQ(array[4], 5);
#pragma omp target enter data map(present, to : array)
#pragma omp target exit data map(present, from : array)
  CHECK_PRESENT(array, 1);
#pragma omp target exit data map(present, from : array) map(release : x)
  CHECK_PRESENT(array, 0);
}

typedef struct {
  int a, b;
  int* data;
} Object;

static void present_members(void) {
  int data[N] = {0};
  Object o = {1, 2, data};
#pragma omp target enter data map(to : o) map(to : o.data[0 : N])
#pragma omp target map(present, tofrom : o.a, o.b)
  o.a = ++o.b;
#pragma omp target map(present, tofrom : o) map(present, tofrom : o.data[0 : N])
  o.data[2] = o.a;
#pragma omp target exit data map(from : o) map(from : o.data[0 : N])
  CHECK_EQ(o.a, 3);
  CHECK_EQ(data[2], 3);
}

/* Absent data in an update is left alone. */
static void absent_updates(void) {
  int x = 1, y = 2, array[N] = {3};
#pragma omp target enter data map(to : y)
#pragma omp target map(tofrom : y)
  y = 20;
#pragma omp target update from(x, y, array)
  CHECK_EQ(x, 1);
  CHECK_EQ(y, 20);
  CHECK_EQ(array[0], 3);
#pragma omp target update to(array[5 : 5])
  CHECK_PRESENT(array + 5, 0);
#pragma omp target exit data map(delete : y)
}

#ifdef __clang__
/* A hold is a count of its own: only the end of the construct that holds ends it. */
static void hold(void) {
  int x = 0;
#pragma omp target data map(ompx_hold, tofrom : x)
  {
#pragma omp target exit data map(delete : x)
    CHECK_PRESENT(&x, 1);
#pragma omp target map(tofrom : x)
    x = 4;
    CHECK_COPY(x, 0, 4);
#pragma omp target enter data map(to : x)
#pragma omp target exit data map(from : x)
    CHECK_COPY(x, 0, 4);
    CHECK_PRESENT(&x, 1);
#pragma omp target map(ompx_hold, tofrom : x)
    x++;
    CHECK_PRESENT(&x, 1);
#pragma omp target data map(ompx_hold, tofrom : x)
    CHECK_PRESENT(&x, 1);
  }
  CHECK_EQ(x, 5);
  CHECK_PRESENT(&x, 0);
#pragma omp target enter data map(to : x)
#pragma omp target data map(ompx_hold, tofrom : x)
  {
#pragma omp target map(tofrom : x)
    x++;
  }
  CHECK_COPY(x, 5, 6); /* the other count still stands */
  CHECK_PRESENT(&x, 1);
#pragma omp target exit data map(from : x)
  CHECK_EQ(x, 6);
}
#endif

int main(void) {
  present();
  present_members();
  absent_updates();
#ifdef __clang__
  hold();
#endif
  return 0;
}
