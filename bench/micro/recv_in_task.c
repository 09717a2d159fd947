/* SPDX-License-Identifier: Apache-2.0
 *
 * What a receive costs inside a task: two ranks pass an 8-byte message to and fro, once in plain MPI outside any
 * region, once with each MPI_Recv in a task of its own that the rank then waits for. Both kinds take turns in
 * one run. Figures, per message: `recv_plain`, `recv_in_task`, and `recv_task_extra`, the median of the differences:
 * creating the task, suspending it where the runtime can, noticing the message, resuming, and the taskwait.
 * Rank 0 keeps time and prints; the ranks agree on the rounds. The message is the round's number, checked on arrival.
 */
#include "bench.h"
#include "two_ranks.h"

#include <mpi.h>

enum { kFirstRounds = 200, kTag = 7 };

static int rank;

static void check_message(long message, long round) {
  if (message == round) return;
  fprintf(stderr, "bench: recv_in_task: rank %d received %ld in round %ld\n", rank, message, round);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send(long round) { MPI_Send(&round, 1, MPI_LONG, 1 - rank, kTag, MPI_COMM_WORLD); }

static void receive(long* message) {
  MPI_Recv(message, 1, MPI_LONG, 1 - rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pass_plain(long rounds) {
  for (long round = 0; round < rounds; ++round) {
    long message = -1;
    if (rank == 0) send(round);
    receive(&message);
    check_message(message, round);
    if (rank == 1) send(round);
  }
}

static void pass_in_tasks(long rounds) {
#pragma omp parallel
#pragma omp single
  for (long round = 0; round < rounds; ++round) {
    long message = -1;
    if (rank == 0) send(round);
#pragma omp task shared(message)
    receive(&message);
#pragma omp taskwait
    check_message(message, round);
    if (rank == 1) send(round);
  }
}

/* Time per message: each round has two. */
static double time_of(void (*pass)(long), long rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = bench_now();
  pass(rounds);
  return (bench_now() - start) / (2.0 * (double)rounds);
}

static long agree_on_rounds(void) {
  time_of(pass_in_tasks, kFirstRounds);
  double ns = time_of(pass_plain, kFirstRounds);
  long rounds = (long)(bench_options.sample_ns / (2 * ns)) + 1;
  MPI_Bcast(&rounds, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  return rounds;
}

int main(int argc, char** argv) {
  rank = bench_init_two_ranks(argc, argv, "recv_in_task");
  long rounds = agree_on_rounds();
  double plain[kBenchSamples], in_task[kBenchSamples], extra[kBenchSamples];
  for (int i = 0; i < kBenchSamples; ++i) {
    plain[i] = time_of(pass_plain, rounds);
    in_task[i] = time_of(pass_in_tasks, rounds);
    extra[i] = in_task[i] - plain[i];
  }
  bench_say("recv_plain", bench_median(plain, kBenchSamples), "ns");
  bench_say("recv_in_task", bench_median(in_task, kBenchSamples), "ns");
  bench_say("recv_task_extra", bench_median(extra, kBenchSamples), "ns");
  MPI_Finalize();
  return 0;
}
