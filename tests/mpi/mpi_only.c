/* SPDX-License-Identifier: Apache-2.0
 *
 * An MPI program without OpenMP is not disturbed: a ring, with every call that Marline intercepts.
 */
#include "support.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const int next = (world_rank + 1) % world_size;
  const int previous = (world_rank + world_size - 1) % world_size;
  int token = world_rank;
  for (int i = 0; i < world_size; ++i) {
    int got = -1;
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Irecv(&got, 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&token, 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[1]);
    int index = -1;
    MPI_Waitany(2, requests, &index, &status);
    MPI_Wait(&requests[1 - index], &status);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    token = got;
  }
  expect(token == world_rank, "the token comes round");
  int got = -1;
  MPI_Sendrecv(&token, 1, MPI_INT, next, 77, &got, 1, MPI_INT, previous, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(got == previous, "Sendrecv");
  if (world_rank == 0) {
    MPI_Send(&token, 1, MPI_INT, next, 78, MPI_COMM_WORLD);
    MPI_Ssend(&token, 1, MPI_INT, next, 79, MPI_COMM_WORLD);
  } else if (world_rank == 1) {
    MPI_Status status;
    MPI_Probe(0, 78, MPI_COMM_WORLD, &status);
    MPI_Recv(&got, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, 0, 79, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(got == 0, "Send and Ssend");
  }
  int sum = -1;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == world_size * (world_size - 1) / 2, "Allreduce");
  MPI_Reduce(&world_rank, &sum, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
  expect(sum == world_size - 1, "Reduce and Bcast");
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
