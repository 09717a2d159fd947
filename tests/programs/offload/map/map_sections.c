/* SPDX-License-Identifier: Apache-2.0
 *
 * Array sections: with a lower bound, of pointers and of arrays of more dimensions, through pointers to pointers, and
 * with no element at all.
 *
 * Covers: target(map), target enter data(map:to), target exit data(map:from), target update(to, from)
 */
#include "../device.h"

#define N 100

static void lower_bounds(int n) {
  int array[N], *p = array, *middle = array + 50, vla[n];
  for (int i = 0; i < N; i++) array[i] = i;
  for (int i = 0; i < n; i++) vla[i] = i;
#pragma omp target map(tofrom : array[20 : 30])
  for (int i = 20; i < 50; i++) array[i] += 1000;
  CHECK_EQ(array[19], 19);
  CHECK_EQ(array[20], 1020);
  CHECK_EQ(array[49], 1049);
  CHECK_EQ(array[50], 50);
#pragma omp target map(tofrom : p[50 : n]) map(to : vla[2 : n - 2])
  for (int i = 50; i < 50 + n; i++) p[i] += vla[n - 1];
  CHECK_EQ(array[50], 50 + n - 1);
  CHECK_EQ(array[50 + n], 50 + n);
#pragma omp target map(tofrom : middle[-10 : 5]) /* below what the pointer points to */
  for (int i = -10; i < -5; i++) middle[i] = i;
  CHECK_EQ(array[39], 1039);
  CHECK_EQ(array[40], -10);
  CHECK_EQ(array[44], -6);
  CHECK_EQ(array[45], 1045);
#pragma omp target map(tofrom : array[ : 3], vla[n - 1 : ])
  array[0] = array[2] = vla[n - 1] = 7;
  CHECK_EQ(array[2], 7);
  CHECK_EQ(vla[n - 1], 7);
}

/* Contiguous parts of arrays of more dimensions. */
static void dimensions(int rows, int columns) {
  static int grid[6][7][8];
  int vla[rows][columns], (*view)[7][8] = grid;
  for (int i = 0; i < 6 * 7 * 8; i++) ((int*)grid)[i] = i;
#pragma omp target map(tofrom : grid[2 : 2][0 : 7][0 : 8])
  for (int i = 2; i < 4; i++)
    for (int j = 0; j < 7; j++)
      for (int k = 0; k < 8; k++) grid[i][j][k] *= 2;
#pragma omp target map(tofrom : grid[5][1 : 3])
  grid[5][3][7] = -1;
#pragma omp target map(tofrom : grid[0][0][2 : 2])
  grid[0][0][3] = -2;
  for (int i = 0; i < 6 * 7 * 8; i++) {
    int expected = i / 56 == 2 || i / 56 == 3 ? 2 * i : i;
    expected = i == 5 * 56 + 3 * 8 + 7 ? -1 : i == 3 ? -2 : expected;
    CHECK_EQ(((int*)grid)[i], expected);
  }
#pragma omp target map(tofrom : view[1 : 1])
  view[1][6][7] = 5;
  CHECK_EQ(grid[1][6][7], 5);
  memset(vla, 0, sizeof vla);
#pragma omp target map(tofrom : vla[1 : rows - 1][0 : columns])
  vla[rows - 1][columns - 1] = vla[1][0] = 9;
  CHECK_EQ(vla[rows - 1][columns - 1], 9);
  CHECK_EQ(vla[1][0], 9);
#pragma omp target map(tofrom : vla)
  vla[0][1] = vla[1][0] + 1;
  CHECK_EQ(vla[0][1], 10);
}

/* No element: nothing is mapped; a pointer to what is mapped already becomes the device's pointer. */
static void no_elements(int zero) {
  int array[N] = {0}, *p = array + 10, other, *q = &other, same = 0;
#pragma omp target enter data map(to : array)
#pragma omp target map(tofrom : p[0 : 0])
  p[5] = 3;
#pragma omp target map(alloc : p[0 : zero])
  p[6] = 4;
#pragma omp target /* a pointer without a clause is one with no element */
  p[7] = 5;
#pragma omp target exit data map(from : array)
  CHECK_EQ(array[15], 3);
  CHECK_EQ(array[16], 4);
  CHECK_EQ(array[17], 5);
  /* To what is absent: the pointer keeps its value. */
#pragma omp target map(to : q[0 : zero]) map(from : same)
  same = 1;
  CHECK_EQ(same, 1);
#pragma omp target enter data map(to : q[0 : zero])
  CHECK_PRESENT(q, 0);
#pragma omp target exit data map(from : q[0 : zero])
  unsigned long value = 0;
#pragma omp target map(from : value)
  value = (unsigned long)q;
  CHECK_COPY(value == (unsigned long)&other || value == 0, 1, 1);
}

/* The pointer that a section hangs on is not changed, and may be null where there is nothing. */
static void null_pointers(void) {
  int *nothing = NULL, is_null = 0;
#pragma omp target map(tofrom : nothing[0 : 0]) map(from : is_null)
  is_null = nothing == NULL;
  CHECK_EQ(is_null, 1);
#pragma omp target enter data map(to : nothing[0 : 0])
#pragma omp target exit data map(from : nothing[0 : 0])
  is_null = 0;
#pragma omp target map(from : is_null)
  is_null = nothing == NULL;
  CHECK_EQ(is_null, 1);
}

/* One section in many pieces: each is an object of its own. */
static void pieces(void) {
  static int array[N];
  for (int i = 0; i < N; i++) array[i] = i;
  for (int i = 0; i < N; i += 10) {
#pragma omp target enter data map(to : array[i : 10])
  }
  for (int i = 0; i < N; i += 10) {
#pragma omp target map(tofrom : array[i : 10])
    for (int j = i; j < i + 10; j++) array[j] *= 3;
  }
#pragma omp target update from(array[30 : 10])
  CHECK_EQ(array[30], 90);
  CHECK_COPY(array[40], 40, 120);
  array[42] = 1;
#pragma omp target update to(array[42 : 1])
  for (int i = 0; i < N; i += 10) {
#pragma omp target exit data map(from : array[i : 10])
  }
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], i == 42 ? 1 : 3 * i);
}

/* Only a section is mapped, and the region names the array: nothing is wrong, and there is no warning. */
static void only_a_section(void) {
  static int array[N];
#pragma omp target enter data map(to : array[50 : 10])
#pragma omp target
  for (int i = 50; i < 60; i++) array[i] += i;
#pragma omp target exit data map(from : array[50 : 10])
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], i >= 50 && i < 60 ? i : 0);
}

int main(void) {
  only_a_section();
  lower_bounds(20);
  dimensions(4, 5);
  no_elements(0);
  null_pointers();
  pieces();
  return 0;
}
