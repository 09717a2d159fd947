/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of a benchmark of messages: two ranks with tasks that call MPI; rank 0 prints.
 */
#ifndef MARLINE_BENCH_MICRO_TWO_RANKS_H
#define MARLINE_BENCH_MICRO_TWO_RANKS_H

#include <mpi.h>
#include <stdio.h>

#include "bench.h"

/* MPI_Init and bench_init; returns the rank. Ends the job if it does not have two ranks, or MPI has no
 * MPI_THREAD_MULTIPLE. */
static inline int bench_init_two_ranks(int argc, char** argv, const char* benchmark) {
  int provided, size, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided < MPI_THREAD_MULTIPLE || size != 2) {
    fprintf(stderr, "bench: %s needs 2 ranks and MPI_THREAD_MULTIPLE, got %d and level %d\n", benchmark, size,
            provided);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank != 0) stdout = freopen("/dev/null", "w", stdout);
  bench_init(argc, argv);
  return rank;
}

#endif
