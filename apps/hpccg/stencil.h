/* SPDX-License-Identifier: Apache-2.0
 *
 * The 27-point problem: each process has a box of nx x ny x nz points, the boxes lie on each other in z in the order of
 * the ranks. A point is coupled by -1 to its neighbours, also across edges and corners; the diagonal is 27. That is
 * symmetric, and strictly dominant by at least 1, hence positive definite.
 */
#ifndef HPCCG_STENCIL_H
#define HPCCG_STENCIL_H

#include "matrix.h"

typedef struct {
  int nx;
  int ny;
  int nz; /* of one process */
} Box;

/* This process' rows, with column numbers of the whole matrix. False if memory does not suffice. Main thread, outside
 * of parallel regions; the team's threads touch first what they are likely to use. */
bool stencil_fill(Matrix* matrix, const Rows* rows, const Box* box);

#endif
