/* SPDX-License-Identifier: Apache-2.0
 *
 * See mode.h. The mode has as many waves as fit at kPointsPerWave: a row that is one iteration old differs by the part
 * 1 - eigenvalue, far more than rounding.
 */
#include "mode.h"

#include <math.h>

enum { kPointsPerWave = 64 };

static const double kPi = 3.14159265358979323846;

/* The angle from one number to the place-th one behind it, in a direction of `count` numbers between two zeros. Whole
 * turns are left out in integers: the rounding of a large angle would be the largest error of all. */
static double angle(int count, int place) {
  const long long half_waves = 1 + 2 * count / kPointsPerWave;
  return kPi * (double)(half_waves * place % (2 * (count + 1LL))) / (count + 1);
}

double mode_value(int rows, int columns, int row, int column) {
  return sin(angle(rows, row)) * sin(angle(columns, column));
}

double mode_eigenvalue(int rows, int columns) { return (cos(angle(rows, 1)) + cos(angle(columns, 1))) / 2; }
