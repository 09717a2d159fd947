/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between two ranks in a fixed order, each kind of sending and receiving once. Every message has its own tag
 * and size, by which the test knows it in the trace.
 */
#include <mpi.h>
#include <stdlib.h>

static int rank, other;
static double data[64];
static char buffer[4096];

static void blocking(void) {
  MPI_Status status;
  MPI_Message message;
  if (rank == 0) {
    MPI_Send(data, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    MPI_Ssend(data, 2, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(data, 3, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    void* detached;
    int size;
    MPI_Buffer_detach(&detached, &size);
    MPI_Send(data, 4, MPI_INT, 1, 4, MPI_COMM_WORLD);
    MPI_Send(data, 5, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Send(data, 6, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD);
  } else {
    MPI_Recv(data, 64, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 64, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &status);
    MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 64, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, 64, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Recv(data, 64, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Sendrecv(data, 7, MPI_CHAR, other, 7, data + 32, 64, MPI_CHAR, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(data, 8, MPI_CHAR, other, 8, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Five requests that are open at once, finished by each kind of call; the statuses are ignored throughout. */
static void requests(void) {
  MPI_Request request[6];
  int index, count, indices[2];
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = 10; tag < 15; ++tag) MPI_Isend(data, tag, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &request[tag - 10]);
    MPI_Waitall(5, request, MPI_STATUSES_IGNORE);
    return;
  }
  for (int tag = 10; tag < 15; ++tag)
    MPI_Irecv(data + tag, 64, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request[tag - 10]);
  request[5] = MPI_REQUEST_NULL;
  int flag = 1;
  for (int i = 0; i < 5; ++i) /* in vain: the sender waits in the barrier */
    MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) {
    MPI_Iprobe(0, 10, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Testall(5, request, &flag, MPI_STATUSES_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_Waitany(1, &request[1], &index, MPI_STATUS_IGNORE);
  MPI_Waitsome(1, &request[2], &count, indices, MPI_STATUSES_IGNORE);
  MPI_Waitall(3, &request[3], MPI_STATUSES_IGNORE); /* the last one is null */
}

static void persistent(void) {
  MPI_Request request[2];
  MPI_Send_init(data, 20, MPI_CHAR, other, 20, MPI_COMM_WORLD, &request[0]);
  MPI_Recv_init(data + 32, 64, MPI_CHAR, other, 20, MPI_COMM_WORLD, &request[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&request[0]);
  MPI_Request_free(&request[1]);
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Irecv(data, 1, MPI_CHAR, other, 30, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* More requests than the recorder has room for on the stack. */
static void many(void) {
  enum { kMany = 300 };
  static MPI_Request request[2 * kMany];
  static char from[kMany], to[kMany];
  for (int i = 0; i < kMany; ++i) {
    MPI_Irecv(&to[i], 1, MPI_CHAR, MPI_ANY_SOURCE, 100 + i, MPI_COMM_WORLD, &request[i]);
    MPI_Isend(&from[i], 1, MPI_CHAR, other, 100 + i, MPI_COMM_WORLD, &request[kMany + i]);
  }
  MPI_Waitall(2 * kMany, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  blocking();
  requests();
  persistent();
  cancelled();
  many();
  MPI_Finalize();
  return 0;
}
