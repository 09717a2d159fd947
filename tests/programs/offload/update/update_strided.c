/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates of parts that do not lie together: sections with a stride, rectangles and boxes inside arrays; and what lies
 * between stays as it is, on both sides. A section with both a stride and a lower bound is not here: Clang passes the
 * bound in a unit that it does not tell.
 *
 * Covers: target update(to, from), target enter data(map:to), target exit data(map:delete)
 */
#include "../device.h"

enum { kN = 60, kRows = 8, kColumns = 10 };

static int array[kN], grid[kRows][kColumns], box[4][5][6];
static double reals[kN];

/* The host has i, the device 1000 + i. */
static void enter_all(void) {
  for (int i = 0; i < kN; i++) array[i] = 1000 + i;
  for (int i = 0; i < kN; i++) reals[i] = 1000 + i;
  for (int i = 0; i < kRows * kColumns; i++) ((int*)grid)[i] = 1000 + i;
  for (int i = 0; i < 4 * 5 * 6; i++) ((int*)box)[i] = 1000 + i;
#pragma omp target enter data map(to : array, grid, box, reals)
  for (int i = 0; i < kN; i++) array[i] = i;
  for (int i = 0; i < kN; i++) reals[i] = i;
  for (int i = 0; i < kRows * kColumns; i++) ((int*)grid)[i] = i;
  for (int i = 0; i < 4 * 5 * 6; i++) ((int*)box)[i] = i;
}

static void exit_all(void) {
#pragma omp target exit data map(delete : array, grid, box, reals)
}

#if __clang_major__ >= 22 /* Clang before 22 moves the first elements, without a stride */
static void strides(void) {
  int wrong = 0;
  enter_all();
#pragma omp target update from(reals[0 : 5 : 2])
  for (int i = 0; i < kN; i++) CHECK_NEAR(reals[i], i < 10 && i % 2 == 0 ? 1000 + i : i, 0);
#pragma omp target update to(array[0 : 7 : 3])
#pragma omp target map(tofrom : array, wrong)
  for (int i = 0; i < kN; i++) wrong += array[i] != (i < 21 && i % 3 == 0 ? i : 1000 + i);
  CHECK_EQ(wrong, 0);
  exit_all();
}
#endif

static int in_rectangle(int i, int j) { return i >= 2 && i < 5 && j >= 3 && j < 7; }
#pragma omp declare target to(in_rectangle)

static void rectangles(void) {
  int wrong = 0;
  enter_all();
#pragma omp target update from(grid[2 : 3][3 : 4])
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++) CHECK_EQ(grid[i][j], (in_rectangle(i, j) ? 1000 : 0) + kColumns * i + j);
  exit_all();
  enter_all();
#pragma omp target update to(grid[2 : 3][3 : 4])
#pragma omp target map(tofrom : grid, wrong)
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++) wrong += grid[i][j] != (in_rectangle(i, j) ? 0 : 1000) + kColumns * i + j;
  CHECK_EQ(wrong, 0);
  exit_all();
}

static void columns(void) {
  enter_all();
#pragma omp target update from(grid[0 : kRows][4 : 1])
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++) CHECK_EQ(grid[i][j], (j == 4 ? 1000 : 0) + kColumns * i + j);
#pragma omp target update from(grid[0 : 3 : 2][0 : 5 : 2])
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++)
      CHECK_EQ(grid[i][j], (j == 4 || (i % 2 == 0 && i < 6 && j % 2 == 0) ? 1000 : 0) + kColumns * i + j);
  exit_all();
}

static void boxes(void) {
  int wrong = 0;
  enter_all();
#pragma omp target update from(box[1 : 2][2 : 2][1 : 3])
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 6; k++) {
        int inside = i >= 1 && i < 3 && j >= 2 && j < 4 && k >= 1 && k < 4;
        CHECK_EQ(box[i][j][k], (inside ? 1000 : 0) + (i * 5 + j) * 6 + k);
      }
  exit_all();
  enter_all();
#pragma omp target update to(box[0 : 2 : 2][0 : 2 : 3][0 : 3 : 2])
#pragma omp target map(tofrom : box, wrong)
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 6; k++) {
        int inside = i % 2 == 0 && (j == 0 || j == 3) && k % 2 == 0;
        wrong += box[i][j][k] != (inside ? 0 : 1000) + (i * 5 + j) * 6 + k;
      }
  CHECK_EQ(wrong, 0);
  exit_all();
}

int main(void) {
  if (!own_copies()) return 0;
#if __clang_major__ >= 22
  strides();
#endif
  rectangles();
  columns();
  boxes();
  return 0;
}
