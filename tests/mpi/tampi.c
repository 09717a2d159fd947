/* SPDX-License-Identifier: Apache-2.0
 *
 * A program in TAMPI's terms. On Marline with one thread, receives before sends; without Marline (argument `plain`),
 * where TAMPI_Iwait waits, the same calls in an order that needs no second thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <string.h>

#include "TAMPI.h"
#include "support.h"

enum { kMessages = 100 };

static int received[kMessages], sent[kMessages];
static MPI_Status statuses[kMessages];

static void send_all(int peer) {
  for (int i = 0; i < kMessages; ++i) {
#pragma omp task firstprivate(i) depend(out : sent[i])
    {
      sent[i] = 100 * world_rank + i;
      TAMPI_Isend(&sent[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD);
    }
  }
}

static void receive_all(int peer) {
  for (int i = 0; i < kMessages; i += 2) {
#pragma omp task firstprivate(i) depend(out : received[i])
    {
      MPI_Request requests[2];
      if (i % 4 == 0) {
        TAMPI_Irecv(&received[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &statuses[i]);
        MPI_Irecv(&received[i + 1], 1, MPI_INT, peer, i + 1, MPI_COMM_WORLD, &requests[1]);
        TAMPI_Iwait(&requests[1], &statuses[i + 1]);
      } else {
        for (int k = 0; k < 2; ++k) MPI_Irecv(&received[i + k], 1, MPI_INT, peer, i + k, MPI_COMM_WORLD, &requests[k]);
        TAMPI_Iwaitall(2, requests, &statuses[i]);
      }
    }
#pragma omp task firstprivate(i) depend(in : received[i])
    for (int k = i; k < i + 2; ++k) {
      expect(received[k] == 100 * peer + k, "a successor finds the message");
      expect(statuses[k].MPI_SOURCE == peer && statuses[k].MPI_TAG == k, "and its status");
    }
  }
}

/* Collectives, each in a task of its own, in an order by dependences. */
static void collectives(void) {
  static int sum, all[3], mine[2];
  const int counts[2] = {1, 2}, places[2] = {0, 1};
#pragma omp task depend(inout : mine) depend(out : sum)
  {
    mine[0] = mine[1] = 10 + world_rank;
    TAMPI_Iallreduce(mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
#pragma omp task depend(inout : mine) depend(out : all)
  TAMPI_Iallgatherv(mine, counts[world_rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
#pragma omp task depend(in : sum, all)
  {
    expect(sum == 21, "a successor finds the sum");
    expect(all[0] == 10 && all[1] == 11 && all[2] == 11, "and what was gathered");
  }
}

int main(int argc, char** argv) {
  int provided = -1, queried = -1, blocking = -1, nonblocking = -1, value = -1;
  const int plain = argc > 1 && strcmp(argv[1], "plain") == 0;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  MPI_Init_thread(&argc, &argv, plain ? MPI_THREAD_MULTIPLE : MPI_TASK_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Query_thread(&queried);
  expect(provided == (plain ? MPI_THREAD_MULTIPLE : MPI_TASK_MULTIPLE), "the threading level that was asked for");
  expect(queried == provided, "MPI_Query_thread says the same");
  TAMPI_Blocking_enabled(&blocking);
  TAMPI_Nonblocking_enabled(&nonblocking);
  expect(blocking == !plain && nonblocking == !plain, "both modes are enabled on Marline");
  expect(TAMPI_Property_get(TAMPI_PROPERTY_BLOCKING_MODE, &value) == MPI_SUCCESS && value == !plain, "and a property");
  expect(TAMPI_Property_get(99, &value) == MPI_ERR_ARG, "an unknown property is an error");
  expect((dlsym(RTLD_NEXT, "TAMPI_Iwaitall") != NULL) == !plain, "libmarline-mpi has the names, too");
  const int peer = 1 - world_rank;
#pragma omp parallel
#pragma omp single
  {
    if (plain) send_all(peer);
    receive_all(peer);
    if (!plain) send_all(peer);
    collectives();
  }
  return finish();
}
