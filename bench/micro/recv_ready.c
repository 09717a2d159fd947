/* SPDX-License-Identifier: Apache-2.0
 *
 * What a receive costs if its message is there already: rank 1 sends a batch of 8-byte messages; when the last one can
 * be seen, rank 0 receives them, once outside any region and once inside a task, by turns. Figures, per receive:
 * `ready_plain`, `ready_in_task`, and `ready_extra`, the median of the differences: what the runtime's layer adds to a
 * call that need not wait. (No task is created per message: `recv_in_task` has that.) Rank 0 keeps time and prints.
 */
#include "bench.h"
#include "two_ranks.h"

#include <mpi.h>

enum { kBatch = 64, kTag = 7, kLastTag = 8 };

static int rank;

static void send_batch(void) {
  for (long i = 0; i < kBatch; ++i) MPI_Send(&i, 1, MPI_LONG, 0, i == kBatch - 1 ? kLastTag : kTag, MPI_COMM_WORLD);
}

/* MPI keeps the order of a sender's messages: with the last one, all are there. */
static double receive_batch(void) {
  MPI_Status status;
  MPI_Probe(1, kLastTag, MPI_COMM_WORLD, &status);
  long sum = 0;
  double start = bench_now();
  for (long i = 0; i < kBatch; ++i) {
    long message = -1;
    MPI_Recv(&message, 1, MPI_LONG, 1, i == kBatch - 1 ? kLastTag : kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += message;
  }
  double spent = bench_now() - start;
  if (sum != kBatch * (kBatch - 1L) / 2) {
    fprintf(stderr, "bench: recv_ready: wrong messages\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return spent;
}

/* Time per receive. */
static double batches(long rounds, int in_task) {
  double spent = 0;
  for (long round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      send_batch();
    } else if (!in_task) {
      spent += receive_batch();
    } else {
#pragma omp parallel
#pragma omp single
#pragma omp task shared(spent)
      spent += receive_batch();
    }
  }
  return spent / (double)(rounds * kBatch);
}

int main(int argc, char** argv) {
  rank = bench_init_two_ranks(argc, argv, "recv_ready");
  long rounds = (long)(bench_options.sample_ns / (kBatch * 500.0)) + 1;
  batches(rounds, 1);
  double plain[kBenchSamples], in_task[kBenchSamples], extra[kBenchSamples];
  for (int i = 0; i < kBenchSamples; ++i) {
    plain[i] = batches(rounds, 0);
    in_task[i] = batches(rounds, 1);
    extra[i] = in_task[i] - plain[i];
  }
  bench_say("ready_plain", bench_median(plain, kBenchSamples), "ns");
  bench_say("ready_in_task", bench_median(in_task, kBenchSamples), "ns");
  bench_say("ready_extra", bench_median(extra, kBenchSamples), "ns");
  MPI_Finalize();
  return 0;
}
