/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages that run ahead: rank 0 sends 400 bytes in each of STEPS x 500 tasks, rank 1 receives them, with tags in
 * reverse. Each task binds its request, and comes after the task of the step before that used the same buffer
 * (`tasks_STEPS`). `plain_STEPS`: the same messages by MPI_Isend, MPI_Irecv and one MPI_Waitall per step, outside any
 * region; by turns. Time per message, from the first send to the last receive. `ahead_STEPS` is the median of the
 * turns' ratios. The goal is a time that does not grow with STEPS: only the runtime keeps rank 0 from sending all
 * messages before the first is received. Rank 0 keeps time and prints.
 */
#include "bench.h"
#include "two_ranks.h"

#include <marline/marline_mpi.h>
#include <mpi.h>

enum { kMessages = 500, kBytes = 400, kSizes = 2, kRounds = 5 };
static const int kSteps[kSizes] = {80, 400};

static int rank;
static char buffers[kMessages][kBytes];
static MPI_Request requests[kMessages];

static int tag_of(int i) { return rank == 0 ? i : kMessages - 1 - i; }

static void start(int tag, MPI_Request* request) {
  if (rank == 0)
    MPI_Isend(buffers[tag], kBytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, request);
  else
    MPI_Irecv(buffers[tag], kBytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, request);
}

static void plain(int steps) {
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < kMessages; ++i) start(tag_of(i), &requests[i]);
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  }
}

static void in_task(int tag, int step) {
  MPI_Request request;
  if (rank == 0) memcpy(buffers[tag], &step, sizeof step);
  start(tag, &request);
  marline_mpi_iwait(&request, MPI_STATUS_IGNORE);
}

/* Checks the data that the previous task has received. */
static void check(int tag, int step) {
  int received;
  memcpy(&received, buffers[tag], sizeof received);
  if (received != step) bench_fail("run_ahead: a message of step %d instead of %d", received, step);
}

static void tasks(int steps) {
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < kMessages; ++i) {
      int tag = tag_of(i);
#pragma omp task firstprivate(tag, step) depend(inout : buffers[tag])
      {
        if (rank == 1 && step > 0) check(tag, step - 1);
        in_task(tag, step);
      }
    }
  }
}

/* In nanoseconds, up to the slower rank's end. */
static double one_round(int steps, void (*exchange)(int)) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = bench_now();
  exchange(steps);
  MPI_Barrier(MPI_COMM_WORLD);
  return (bench_now() - start) / steps / kMessages;
}

static void measure(int steps) {
  double by_waitall[kRounds], by_tasks[kRounds], ratios[kRounds];
  char name[kBenchLine];
  for (int round = 0; round < kRounds; ++round) {
    by_waitall[round] = one_round(steps, plain);
    by_tasks[round] = one_round(steps, tasks);
    ratios[round] = by_tasks[round] / by_waitall[round];
  }
  snprintf(name, sizeof name, "plain_%d", steps);
  bench_say(name, bench_median(by_waitall, kRounds), "ns");
  snprintf(name, sizeof name, "tasks_%d", steps);
  bench_say(name, bench_median(by_tasks, kRounds), "ns");
  snprintf(name, sizeof name, "ahead_%d", steps);
  bench_say(name, bench_median(ratios, kRounds), "x");
}

int main(int argc, char** argv) {
  rank = bench_init_two_ranks(argc, argv, "run_ahead");
  for (int i = 0; i < kSizes; ++i) measure(kSteps[i]);
  MPI_Finalize();
  return 0;
}
