/* SPDX-License-Identifier: Apache-2.0
 *
 * The form without tasks; see forms.h.
 */
#include <mpi.h>

#include "exchange.h"
#include "forms.h"

static void exchange(const Work* work, int iteration) {
  Message messages[kMostMessages];
  MPI_Request requests[kMostMessages];
  const Grid* grid = work->grid;
  const int count = exchange_messages(work->ranks, work->rank, kPlanes, iteration, messages);
  for (int i = 0; i < count; ++i) {
    const Message* m = &messages[i];
    if (m->sends) {
      MPI_Isend(grid_edge(grid, iteration, m->upper), grid->columns, MPI_DOUBLE, m->neighbour, m->tag, MPI_COMM_WORLD,
                &requests[i]);
    } else {
      MPI_Irecv(grid_halo(grid, iteration, m->upper), grid->columns, MPI_DOUBLE, m->neighbour, m->tag, MPI_COMM_WORLD,
                &requests[i]);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

void loops_run(const Work* work) {
  const Grid* grid = work->grid;
  for (int iteration = work->first; iteration < work->last; ++iteration) {
    exchange(work, iteration);
#pragma omp parallel for default(none) shared(grid, iteration) schedule(static)
    for (int block = 1; block <= grid->blocks; ++block) {
      grid_compute(grid, iteration, block);
    }
  }
}
