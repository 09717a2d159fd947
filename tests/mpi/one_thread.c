/* SPDX-License-Identifier: Apache-2.0
 *
 * No primitive holds a thread: on two ranks of one thread each, a task calls the primitive, which is completed only by
 * a task that the same thread must run in the meantime, on this rank or on the other. A call that blocks hangs the
 * test, which then ends by the runner's time limit; the last line on stdout names the primitive.
 */
#include <string.h>

#include "support.h"

enum { kLarge = 1 << 18 }; /* ints: beyond any eager limit, so that a send needs its receiver */

static int* large_out;
static int* large_in;
static int peer;

/* Run by the tested task's sibling, on the same thread, once the tested call has begun. */
static void release_peer(void) { MPI_Send(&world_rank, 1, MPI_INT, peer, 99, MPI_COMM_WORLD); }

static void await_release(void) {
  int from = -1;
  MPI_Recv(&from, 1, MPI_INT, peer, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(from == peer, "the peer's release");
}

/* The call and its release wait for each other across the ranks: rank r's `call` completes only after the other rank's
 * `answer`, and both come second on their thread. */
static void cross(const char* name, void (*call)(void), void (*answer)(void)) {
  printf("rank %d: %s\n", world_rank, name);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      answer();
      call();
    }
  }
}

static void recv_call(void) { await_release(); }

static void send_call(void) { MPI_Send(large_out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD); }
static void ssend_call(void) { MPI_Ssend(&world_rank, 1, MPI_INT, peer, 1, MPI_COMM_WORLD); }
static void large_answer(void) { MPI_Recv(large_in, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void sendrecv_call(void) {
  int got = -1;
  MPI_Sendrecv(&world_rank, 1, MPI_INT, peer, 2, &got, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(got == peer + 10, "Sendrecv's message");
}
static void sendrecv_answer(void) {
  int got = -1;
  MPI_Recv(&got, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int reply = world_rank + 10;
  MPI_Send(&reply, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
}

static void wait_call(void) {
  int got = -1;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, peer, 99, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got == peer && request == MPI_REQUEST_NULL, "Wait completes its request");
}

static void waitall_call(void) {
  int got[2] = {-1, -1};
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(&got[0], 1, MPI_INT, peer, 99, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&got[1], 1, MPI_INT, peer, 98, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  expect(got[0] == peer && got[1] == peer, "Waitall completes all");
}
static void waitall_answer(void) {
  MPI_Send(&world_rank, 1, MPI_INT, peer, 98, MPI_COMM_WORLD);
  release_peer();
}

static void waitany_call(void) {
  int got[2] = {-1, -1};
  int index = -1;
  MPI_Request requests[2];
  MPI_Irecv(&got[0], 1, MPI_INT, peer, 97, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&got[1], 1, MPI_INT, peer, 99, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  expect(index == 1 && got[1] == peer && requests[0] != MPI_REQUEST_NULL, "Waitany completes one");
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void probe_call(void) {
  MPI_Status status;
  MPI_Probe(peer, 99, MPI_COMM_WORLD, &status);
  expect(status.MPI_SOURCE == peer && status.MPI_TAG == 99, "Probe's status");
  await_release();
}

/* Rank 0 is inside the collective when the message is sent that rank 1 needs to get to its own. */
static void collective(const char* name, void (*call)(void)) {
  printf("rank %d: %s\n", world_rank, name);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    {
      if (world_rank == 0) {
#pragma omp task
        release_peer();
      } else {
        await_release();
      }
      call();
    }
  }
}

static void barrier_call(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void bcast_call(void) {
  int value = world_rank == 1 ? 4711 : 0;
  MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
  expect(value == 4711, "Bcast's value");
}

static void reduce_call(void) {
  const int mine = world_rank + 1;
  int sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  expect(world_rank != 0 || sum == 3, "Reduce's sum");
}

static void allreduce_call(void) {
  int sum = world_rank + 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == 3, "Allreduce's sum");
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  peer = 1 - world_rank;
  large_out = calloc(kLarge, sizeof *large_out);
  large_in = calloc(kLarge, sizeof *large_in);
  cross("Recv", recv_call, release_peer);
  cross("Send", send_call, large_answer);
  cross("Ssend", ssend_call, large_answer);
  cross("Sendrecv", sendrecv_call, sendrecv_answer);
  cross("Wait", wait_call, release_peer);
  cross("Waitall", waitall_call, waitall_answer);
  cross("Waitany", waitany_call, release_peer);
  cross("Probe", probe_call, release_peer);
  collective("Barrier", barrier_call);
  collective("Bcast", bcast_call);
  collective("Reduce", reduce_call);
  collective("Allreduce", allreduce_call);
  free(large_out);
  free(large_in);
  return finish();
}
