/* SPDX-License-Identifier: Apache-2.0
 *
 * What the result must be. The plane starts as an eigenvector of the iteration (mode.h): after k iterations it is
 * itself times the k-th power of the eigenvalue, whatever the ranks and blocks. Pure functions.
 */
#ifndef HALO_VERIFY_H
#define HALO_VERIFY_H

#include "grid.h"

/* The largest difference from what must be, over the largest number that may be there. */
double verify_error(const Grid* grid, int iterations);

/* What rounding explains. */
double verify_tolerance(int iterations);

#endif
