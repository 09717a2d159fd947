/* SPDX-License-Identifier: Apache-2.0
 *
 * The exchange of vector elements at the borders of the processes' blocks of rows, computed once from the matrix'
 * pattern. A neighbour's elements form one contiguous part of the halo; what goes to it is gathered into a buffer.
 *
 * Created by the main thread; halo_send and halo_receive are called by whoever exchanges, for a neighbour by one thread
 * or task at a time.
 */
#ifndef HPCCG_HALO_H
#define HPCCG_HALO_H

#include "matrix.h"

typedef struct {
  int rank;
  int first; /* its part of a vector's halo: place and length; length 0: nothing comes from it */
  int count;
  int sent;  /* elements that go to it; 0: none */
  int* rows; /* which ones: this process' rows, ascending */
  double* buffer;
} Neighbour;

typedef struct {
  int count;
  Neighbour* neighbours;
} Halo;

/* Collective; false, on all processes, if memory does not suffice on some. Destroy in any case. */
bool halo_create(Halo* halo, const Matrix* matrix, const Rows* rows);
void halo_destroy(Halo* halo);

/* Blocking messages with one neighbour. */
void halo_send(const Neighbour* to, const double* vector);
void halo_receive(const Neighbour* from, double* vector);

/* All of them, by the calling thread. */
void halo_exchange(const Halo* halo, double* vector);

#endif
