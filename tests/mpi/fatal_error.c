/* SPDX-License-Identifier: Apache-2.0
 *
 * Under MPI's default error handler, a truncated message in a suspended task ends the job: no hang, no wrong data.
 */
#include "support.h"

int main(int argc, char** argv) {
  int buffer[64] = {0};
  start(&argc, &argv, 2);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task shared(buffer)
    {
      if (world_rank == 0) {
        let_peer_block();
        MPI_Send(buffer, 64, MPI_INT, 1, 1, MPI_COMM_WORLD);
      } else {
        MPI_Recv(buffer, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("rank 1: done\n"); /* must not be printed */
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
