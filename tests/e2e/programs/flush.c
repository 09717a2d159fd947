/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocking calls that MPI 4.1 has added, on two ranks of one thread: each is made in a task, and ends only when the
 * peer has received a message, which a task of the same thread must do there. A call that holds its thread hangs.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1 << 18 }; /* beyond any eager limit */

static int out[kCount], in[kCount];
static int peer;
static void* space;
static int room;

static void flush(void) { MPI_Buffer_flush(); }
static void flush_comm(void) { MPI_Comm_flush_buffer(MPI_COMM_WORLD); }

static void detach_comm(void) {
  void* given = NULL;
  int bytes = 0;
  MPI_Comm_detach_buffer(MPI_COMM_WORLD, &given, &bytes);
  if (given != space) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send_and(void (*call)(void)) {
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      MPI_Recv(in, kCount, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Bsend(out, kCount, MPI_INT, peer, 0, MPI_COMM_WORLD);
      call();
    }
  }
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  room = (int)sizeof out + MPI_BSEND_OVERHEAD;
  space = malloc((size_t)room);
  MPI_Buffer_attach(space, room);
  send_and(flush);
  MPI_Buffer_detach(&space, &room);
  MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, room);
  send_and(flush_comm);
  send_and(detach_comm);
  printf("rank %d: done\n", rank);
  MPI_Finalize();
}
