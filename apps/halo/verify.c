/* SPDX-License-Identifier: Apache-2.0
 *
 * See verify.h.
 */
#include "verify.h"

#include <float.h>
#include <math.h>

#include "mode.h"

double verify_error(const Grid* grid, int iterations) {
  const double scale = pow(mode_eigenvalue(grid->all_rows, grid->columns), iterations);
  double largest = 0;
  for (int row = 1; row <= grid->rows; ++row) {
    const double* numbers = grid_halo(grid, iterations, true) + (size_t)row * grid->stride - 1;
    for (int column = 1; column <= grid->columns; ++column) {
      const double start = mode_value(grid->all_rows, grid->columns, grid->first_row + row - 1, column);
      const double apart = fabs(numbers[column] - scale * start);
      largest = apart <= largest ? largest : isnan(apart) ? INFINITY : apart;
    }
  }
  return largest / fabs(scale);
}

double verify_tolerance(int iterations) { return 16 * (iterations + 16.0) * DBL_EPSILON; }
