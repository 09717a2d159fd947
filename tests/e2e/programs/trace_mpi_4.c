/* SPDX-License-Identifier: Apache-2.0
 *
 * What MPI 4.0 added, between two ranks: large counts, a send and a receive in one request, persistent collectives,
 * partitioned messages.
 */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, data[16] = {0}, more[16] = {0};
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  if (rank == 0)
    MPI_Send_c(data, 3, MPI_INT, 1, 1, MPI_COMM_WORLD);
  else
    MPI_Recv_c(data, 16, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Isendrecv(data, 2, MPI_INT, other, 2, more, 16, MPI_INT, other, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce_init(data, more, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  if (rank == 0) {
    MPI_Psend_init(data, 2, 8, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready(0, request);
    MPI_Pready(1, request);
  } else {
    MPI_Precv_init(data, 2, 8, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Finalize();
  return 0;
}
