/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank 1 receives in tasks that bind their requests, rank 0 sends later: one request, then two with statuses that the
 * program ignores, then a null one. */
#include <marline/marline_mpi.h>
#include <stddef.h>

int main(int argc, char** argv) {
  static char buffer[64];
  int rank = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(1)
#pragma omp single
  for (int round = 0; round < 2; round++) {
#pragma omp task depend(inout : buffer)
    {
      static MPI_Status status;
      MPI_Request requests[2];
      for (int i = 0; i <= round; i++) {
        const int tag = 10 + 2 * round + i;
        if (rank == 0)
          MPI_Isend(buffer, tag, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &requests[i]);
        else
          MPI_Irecv(buffer + 32 * i, 32, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &requests[i]);
      }
      marline_mpi_iwaitall(1 + round, requests, round == 0 ? &status : MPI_STATUSES_IGNORE);
    }
  }
  MPI_Request none = MPI_REQUEST_NULL;
  marline_mpi_iwait(&none, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
