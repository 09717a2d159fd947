/* SPDX-License-Identifier: Apache-2.0
 *
 * What the plane starts as: a product of two sines, an eigenvector of the iteration. Rows and columns of the whole
 * plane count from 1. Pure functions.
 */
#ifndef HALO_MODE_H
#define HALO_MODE_H

/* The number at a place of a plane of so many rows and columns. */
double mode_value(int rows, int columns, int row, int column);

/* What one iteration multiplies every number by. */
double mode_eigenvalue(int rows, int columns);

#endif
