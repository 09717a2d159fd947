/* SPDX-License-Identifier: Apache-2.0
 *
 * The form with detached messages; see forms.h. A task that has started its message ends at once; it is complete, for
 * the tasks that depend on it, when the poller has fulfilled its event.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#include "compute.h"
#include "poller.h"

__attribute__((noinline)) static void task_isend(const Work* work, int iteration, const Message* message) {
  const double* row = grid_edge(work->grid, iteration, message->upper);
  const int columns = work->grid->columns, to = message->neighbour, tag = message->tag;
  omp_event_handle_t event = (omp_event_handle_t)0; /* set by the construct */
#pragma omp task firstprivate(row, columns, to, tag) priority(1) detach(event) \
    depend(in : message_block(work -> grid, iteration, message)[0])
  {
    MPI_Request request;
    MPI_Isend(row, columns, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &request);
    poller_add(request, event);
  }
}

__attribute__((noinline)) static void task_irecv(const Work* work, int iteration, const Message* message) {
  double* row = grid_halo(work->grid, iteration, message->upper);
  const int columns = work->grid->columns, from = message->neighbour, tag = message->tag;
  omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task firstprivate(row, columns, from, tag) priority(1) detach(event) \
    depend(out : message_block(work -> grid, iteration, message)[0])
  {
    MPI_Request request;
    MPI_Irecv(row, columns, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request);
    poller_add(request, event);
  }
}

void detach_run(const Work* work) {
  if (!poller_start()) {
    fprintf(stderr, "halo: no thread for the poller\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
#pragma omp parallel default(none) shared(work)
#pragma omp single
  create_tasks(work, task_isend, task_irecv);
  poller_stop();
}
