/* SPDX-License-Identifier: Apache-2.0
 *
 * marline_mpi_counters_read: counts tasks that have surely been suspended in a receive and, if asked for, the time
 * until they went on.
 *
 * Usage: counters [timed]     timed: MARLINE_MPI_COUNTERS=true
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <marline/marline_mpi.h>
#include <string.h>

#include "support.h"

enum { kTasks = 20 };

/* The last task to start has the messages sent: the others are suspended by then. */
static void receive_all(void) {
  int sum = 0;
  int started = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
  {
    for (int i = 0; i <= kTasks; ++i) {
#pragma omp task shared(sum, started)
      {
        int value = 0;
        if (++started > kTasks) MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += value;
      }
    }
  }
  expect(sum == kTasks + 1, "every task ran");
}

static void send_all(void) {
  int one = 0;
  MPI_Recv(&one, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  one = 1;
  for (int i = 0; i <= kTasks; ++i) MPI_Send(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  void (*read)(marline_mpi_counters_t*, size_t);
  void* address = dlsym(RTLD_DEFAULT, "marline_mpi_counters_read");
  memcpy(&read, &address, sizeof read);
  start(&argc, &argv, 2);
  expect(address != NULL, "marline_mpi_counters_read is there");
  const int timed = argc > 1 && strcmp(argv[1], "timed") == 0;
  if (world_rank == 0)
    send_all();
  else
    receive_all();
  struct {
    marline_mpi_counters_t now;
    uint64_t more;
  } later = {.more = 1};
  read(&later.now, sizeof later);
  const marline_mpi_counters_t now = later.now;
  expect(later.more == 0, "what the library does not count is 0");
  if (world_rank == 1) {
    expect(now.hits >= kTasks && now.polls > 0, "polls and hits");
    expect(timed ? now.resumptions >= kTasks && now.resumptions <= now.hits : now.resumptions == 0, "resumptions");
    expect(timed ? now.latency_ns >= now.longest_latency_ns && now.longest_latency_ns > 0 : now.latency_ns == 0,
           "latencies");
    expect(timed ? now.tied_resumptions >= kTasks && now.tied_wait_ns > 0 : now.tied_resumptions == 0, "tied tasks");
    expect(now.tied_wait_ns <= now.latency_ns, "a part of the latency");
  }
  return finish();
}
