/* SPDX-License-Identifier: Apache-2.0
 *
 * A hundred thousand requests that are open at a time: of as many tasks that each wait in MPI_Recv, and of one Waitall.
 * Messages come only when all are open. Their values show that each is received once.
 *
 * Usage: many_open REQUESTS
 */
#include "support.h"

static int requests;
static int begun;
static long long sum;

static void post_token(void) { MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD); }

/* One tag for all: MPI finds the receive of a message at once, in whatever order tasks post theirs. */
static void receive_one(void) {
  int value = -1;
  MPI_Status status;
#pragma omp atomic
  ++begun;
  MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
  expect(value >= 0 && value < requests && status.MPI_TAG == 0 && status.MPI_SOURCE == 0, "a message and its status");
#pragma omp atomic
  sum += value;
}

static int begun_now(void) {
  int now;
#pragma omp atomic read
  now = begun;
  return now;
}

static void receive_in_tasks(void) {
  begun = 0;
  for (int i = 0; i < requests; ++i) {
#pragma omp task
    receive_one();
  }
  while (begun_now() < requests) {
#pragma omp taskyield
  }
  post_token();
#pragma omp taskwait
}

static void receive_by_waitall(void) {
  int* values = malloc((size_t)requests * sizeof *values);
  MPI_Request* open = malloc((size_t)requests * sizeof *open);
  expect(values != NULL && open != NULL, "memory");
  for (int i = 0; i < requests; ++i) MPI_Irecv(&values[i], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &open[i]);
  post_token();
  expect(MPI_Waitall(requests, open, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "Waitall");
  for (int i = 0; i < requests; ++i) {
    expect(values[i] == i && open[i] == MPI_REQUEST_NULL, "messages come in order");
    sum += values[i];
  }
  free(values);
  free(open);
}

static void send_all(void) {
  MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < requests; ++i) MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

static void exchange(void (*receive)(void)) {
  sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task firstprivate(receive)
    if (world_rank == 1)
      receive();
    else
      send_all();
  }
  expect(sum == (world_rank == 1 ? (long long)requests * (requests - 1) / 2 : 0), "each message is received once");
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 2, "usage: many_open REQUESTS");
  requests = atoi(argv[1]);
  exchange(receive_in_tasks);
  exchange(receive_by_waitall);
  return finish();
}
