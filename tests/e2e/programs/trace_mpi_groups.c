/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on groups of processes, on three ranks: collectives of each shape, communicators with equal members, other
 * communicators, windows and a file. The test knows the calls by their order.
 */
#include <mpi.h>
#include <stdlib.h>

static int rank;

static void collectives(MPI_Comm comm) {
  int data[16] = {0}, more[16] = {0};
  const int counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
  MPI_Request request;
  MPI_Barrier(comm);
  MPI_Bcast(data, 2, MPI_DOUBLE, 1, comm);
  MPI_Reduce(data, more, 3, MPI_INT, MPI_SUM, 2, comm);
  MPI_Allreduce(MPI_IN_PLACE, data, 4, MPI_INT, MPI_SUM, comm);
  MPI_Gather(data, 1, MPI_INT, more, 1, MPI_INT, 0, comm);
  MPI_Gatherv(data, counts[rank], MPI_INT, more, counts, places, MPI_INT, 0, comm);
  MPI_Scatterv(data, counts, places, MPI_INT, rank == 0 ? MPI_IN_PLACE : more, counts[rank], MPI_INT, 0, comm);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, places, MPI_INT, comm);
  MPI_Alltoall(data, 2, MPI_INT, more, 2, MPI_INT, comm);
  MPI_Reduce_scatter(data, more, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(data, more, 2, MPI_INT, MPI_SUM, comm);
  MPI_Scan(data, more, 5, MPI_INT, MPI_SUM, comm);
  MPI_Ibcast(data, 6, MPI_INT, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ialltoall(data, 1, MPI_INT, more, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same envelope on communicators with the same members; the receiver asks for the second one first. */
static void equal_members(MPI_Comm first, MPI_Comm second) {
  int value = 0;
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, 1, 40, first, &request);
    MPI_Send(&value, 2 - 1, MPI_INT, 1, 40, second);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(&value, 1, MPI_INT, 0, 40, second, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 40, first, MPI_STATUS_IGNORE);
  }
}

static void communicators(void) {
  int value = 0;
  MPI_Comm first, second, reversed, half, between, merged, some;
  MPI_Group world, pair;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  equal_members(first, second);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  if (rank == 2) MPI_Send(&value, 1, MPI_INT, 1, 41, reversed); /* rank 1 of 3 is in the middle both ways */
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 41, reversed, MPI_STATUS_IGNORE);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &between);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 42, between); /* world rank 2 */
  if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 0, 42, between, MPI_STATUS_IGNORE);
  MPI_Intercomm_merge(between, rank == 0, &merged);
  MPI_Barrier(merged);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, (int[]){0, 2}, &pair);
  if (rank != 1) {
    MPI_Comm_create_group(MPI_COMM_WORLD, pair, 3, &some);
    MPI_Barrier(some);
    MPI_Comm_free(&some);
  }
  /* A number is not given twice, an identity neither. */
  MPI_Comm_free(&second);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  MPI_Barrier(second);
}

static void windows(void) {
  double memory[4] = {0};
  MPI_Win window;
  MPI_Request request;
  MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(memory, 2, MPI_DOUBLE, 1, 0, 2, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock_all(0, window);
  if (rank == 1) {
    MPI_Rget(memory, 3, MPI_DOUBLE, 2, 0, 3, MPI_DOUBLE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void file(const char* path) {
  MPI_File handle;
  int value = rank;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle);
  MPI_File_write_at_all(handle, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&handle);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  collectives(MPI_COMM_WORLD);
  communicators();
  windows();
  file(getenv("MPI_TEST_FILE"));
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD); /* not recorded */
  MPI_Pcontrol(1);
  MPI_Finalize();
  return 0;
}
