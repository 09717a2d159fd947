/* SPDX-License-Identifier: Apache-2.0
 *
 * See halo.h. One tag serves: between two processes and in one direction there is one message per product, and the
 * callers keep their order.
 */
#include "halo.h"

#include <mpi.h>
#include <stdlib.h>

enum { kTag = 1 };

/* What this process receives from each rank: counts[rank]. */
static void count_by_owner(const Matrix* matrix, const Rows* rows, int* counts) {
  for (int h = 0; h < matrix->halo; ++h) {
    ++counts[rows_owner(rows, matrix->halo_rows[h])];
  }
}

static bool create_neighbours(Halo* halo, const Matrix* matrix, int ranks, const int* received, const int* sent) {
  int place = matrix->rows;
  halo->neighbours = calloc((size_t)ranks, sizeof *halo->neighbours);
  for (int rank = 0; rank < ranks && halo->neighbours; ++rank) {
    if (received[rank] == 0 && sent[rank] == 0) {
      continue;
    }
    Neighbour* neighbour = &halo->neighbours[halo->count++];
    *neighbour = (Neighbour){.rank = rank, .first = place, .count = received[rank], .sent = sent[rank]};
    neighbour->rows = malloc(((size_t)sent[rank] + 1) * sizeof *neighbour->rows);
    neighbour->buffer = malloc(((size_t)sent[rank] + 1) * sizeof *neighbour->buffer);
    place += received[rank];
    if (!neighbour->rows || !neighbour->buffer) {
      return false;
    }
  }
  return halo->neighbours != NULL;
}

static void gather_from(const Neighbour* neighbour, const double* vector) {
  for (int k = 0; k < neighbour->sent; ++k) {
    neighbour->buffer[k] = vector[neighbour->rows[k]];
  }
}

/* Tells every neighbour which of its rows are wanted. */
static void exchange_rows(const Halo* halo, const Matrix* matrix, const Rows* rows) {
  for (int n = 0; n < halo->count; ++n) {
    const Neighbour* neighbour = &halo->neighbours[n];
    MPI_Sendrecv(matrix->halo_rows + (neighbour->first - matrix->rows), neighbour->count, MPI_INT, neighbour->rank,
                 kTag, neighbour->rows, neighbour->sent, MPI_INT, neighbour->rank, kTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int k = 0; k < neighbour->sent; ++k) {
      neighbour->rows[k] -= (int)rows->first[rows->rank];
    }
  }
}

static bool everywhere(bool here) {
  int all = here;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

bool halo_create(Halo* halo, const Matrix* matrix, const Rows* rows) {
  *halo = (Halo){0};
  int* counts = calloc((size_t)rows->ranks * 2, sizeof *counts);
  if (!everywhere(counts != NULL)) {
    free(counts);
    return false;
  }
  count_by_owner(matrix, rows, counts);
  MPI_Alltoall(counts, 1, MPI_INT, counts + rows->ranks, 1, MPI_INT, MPI_COMM_WORLD);
  bool room = create_neighbours(halo, matrix, rows->ranks, counts, counts + rows->ranks);
  free(counts);
  if (!everywhere(room)) {
    return false;
  }
  exchange_rows(halo, matrix, rows);
  return true;
}

void halo_destroy(Halo* halo) {
  for (int n = 0; n < halo->count; ++n) {
    free(halo->neighbours[n].rows);
    free(halo->neighbours[n].buffer);
  }
  free(halo->neighbours);
  *halo = (Halo){0};
}

void halo_send(const Neighbour* to, const double* vector) {
  gather_from(to, vector);
  MPI_Send(to->buffer, to->sent, MPI_DOUBLE, to->rank, kTag, MPI_COMM_WORLD);
}

void halo_receive(const Neighbour* from, double* vector) {
  MPI_Recv(vector + from->first, from->count, MPI_DOUBLE, from->rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void halo_exchange(const Halo* halo, double* vector) {
  for (int n = 0; n < halo->count; ++n) {
    const Neighbour* neighbour = &halo->neighbours[n];
    gather_from(neighbour, vector);
    MPI_Sendrecv(neighbour->buffer, neighbour->sent, MPI_DOUBLE, neighbour->rank, kTag, vector + neighbour->first,
                 neighbour->count, MPI_DOUBLE, neighbour->rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
