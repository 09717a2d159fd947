// SPDX-License-Identifier: Apache-2.0
// Smooths the rows of a triangle again and again: row r has r + 1 cells. After each step the rows are weighed, and the
// weight of all of them scales the next step. As rows_tasks.c, but tasks only read the scale.
#include <stdio.h>

enum { kRows = 48, kSteps = 6, kSweeps = 4000, kPowers = 2400 };

static double cells[kRows][kRows + 2], weights[kRows], scale = 1;

// Its time grows with the row's length.
__attribute__((noinline)) static void smooth(int r) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int i = 1; i <= r + 1; ++i) cells[r][i] += scale * (cells[r][i - 1] - 2 * cells[r][i] + cells[r][i + 1]) / 4;
  }
}

__attribute__((noinline)) static double weigh(int r) {
  double sum = 0;
  for (int power = 1; power <= kPowers; ++power) {
    for (int i = 1; i <= r + 1; ++i) sum += cells[r][i] / (power + cells[r][i]);
  }
  return sum / kPowers;
}

static double sum_of_weights(void) {
  double sum = 0;
  for (int r = 0; r < kRows; ++r) sum += weights[r];
  return sum;
}

int main(void) {
  for (int r = 0; r < kRows; ++r) cells[r][0] = 1;

#pragma omp parallel
#pragma omp single
  for (int step = 0; step < kSteps; ++step) {
    for (int r = 0; r < kRows; ++r) {
#pragma omp task depend(inout : cells[r]) depend(in : scale)
      {
        smooth(r);
        weights[r] = weigh(r);
      }
    }
#pragma omp taskwait
    scale = 1 / (1 + 1e-2 * sum_of_weights());
  }

  printf("scale %.9f\n", scale);
}
