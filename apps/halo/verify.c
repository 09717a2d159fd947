/* SPDX-License-Identifier: Apache-2.0
 *
 * See verify.h. A row that is one iteration old differs by the part 1 - eigenvalue, far more than rounding: the mode has
 * as many waves as fit at kPointsPerWave.
 */
#include "verify.h"

#include <float.h>
#include <math.h>

enum { kPointsPerWave = 64 };

static const double kPi = 3.14159265358979323846;

/* The angle from one number to the place-th one behind it, in a direction of `count` numbers between two zeros. Whole
 * turns are left out in integers: the rounding of a large angle would be the largest error of all. */
static double angle(int count, int place) {
  const long long half_waves = 1 + 2 * count / kPointsPerWave;
  return kPi * (double)(half_waves * place % (2 * (count + 1LL))) / (count + 1);
}

double mode_value(const Grid *grid, int row, int column) {
  return sin(angle(grid->all_rows, grid->first_row + row - 1)) * sin(angle(grid->columns, column));
}

double verify_error(const Grid *grid, int iterations) {
  const double eigenvalue = (cos(angle(grid->all_rows, 1)) + cos(angle(grid->columns, 1))) / 2;
  const double scale = pow(eigenvalue, iterations);
  double largest = 0;
  for (int row = 1; row <= grid->rows; ++row) {
    const double *numbers = grid_halo(grid, iterations, true) + (size_t)row * grid->stride - 1;
    for (int column = 1; column <= grid->columns; ++column) {
      const double apart = fabs(numbers[column] - scale * mode_value(grid, row, column));
      largest = apart <= largest ? largest : isnan(apart) ? INFINITY : apart;
    }
  }
  return largest / fabs(scale);
}

double verify_tolerance(int iterations) { return 16 * (iterations + 16.0) * DBL_EPSILON; }
