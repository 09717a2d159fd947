/* SPDX-License-Identifier: Apache-2.0
 *
 * One rank sends itself a message. Says whether requests are served in the background, what came, and that TAMPI's
 * names are there. */
#include <TAMPI.h>
#include <marline/marline_mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int sent = 7, received = 0, enabled = -1;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Irecv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
  marline_mpi_iwaitall(2, requests, MPI_STATUSES_IGNORE);
  TAMPI_Nonblocking_enabled(&enabled);
  if (requests[0] == MPI_REQUEST_NULL && enabled == 0) printf("%d %d TAMPI\n", marline_mpi_is_active(), received);
  MPI_Finalize();
  return 0;
}
