/* SPDX-License-Identifier: Apache-2.0
 *
 * What plain MPI takes between two ranks, for comparison with roundtrip.c and copies.c: 8 bytes to rank 1 and back, and
 * blocks of 64 MiB (--mib) to rank 1 and from it, each with an answer of no bytes, so that the block is known to be
 * there.
 * `--nothing`: MPI_Init and MPI_Finalize alone, without figures.
 *
 * Figures: `round_trip` in us, the median, and `round_trip_p99`, which 99 of 100 do not exceed; `mpi_to` and `mpi_from`
 * in GB/s, medians. Main thread only; the ranks take turns, so each has one message under way.
 */
#include <mpi.h>

#include "bench.h"

enum { kTimes = 2000, kWarmUp = 200, kRounds = 9, kTag = 1, kPage = 4096 };

static int rank;

static void send(const void* block, int bytes) { MPI_Send(block, bytes, MPI_BYTE, 1 - rank, kTag, MPI_COMM_WORLD); }

static void receive(void* block, int bytes) {
  MPI_Recv(block, bytes, MPI_BYTE, 1 - rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void round_trips(void) {
  static double took[kTimes];
  double number = rank == 0 ? 1 : 0;
  for (int i = -kWarmUp; i < kTimes; ++i) {
    double begin = bench_now();
    if (rank == 0) send(&number, sizeof number);
    receive(&number, sizeof number);
    if (rank == 1) send(&number, sizeof number);
    if (i >= 0) took[i] = 1e-3 * (bench_now() - begin);
  }
  if (number != 1) bench_fail("messages: the number is %g", number);
  double median = bench_median(took, kTimes); /* sorts */
  bench_say("round_trip", median, "us");
  bench_say("round_trip_p99", took[kTimes - kTimes / 100], "us");
}

/* From rank `from` to the other one; the time of rank 0, from the request to the answer. */
static double transfer(int from, char* block, int bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = bench_now();
  if (from == 1) rank == 0 ? send(NULL, 0) : receive(NULL, 0);
  if (rank == from)
    send(block, bytes);
  else
    receive(block, bytes);
  if (from == 0) rank == 0 ? receive(NULL, 0) : send(NULL, 0);
  return bench_now() - begin;
}

static void blocks(int bytes) {
  double times[2][kRounds];
  char* block = aligned_alloc(kPage, (size_t)bytes); /* as in copies.c */
  if (!block) bench_fail("messages: not enough memory");
  for (int round = -1; round < kRounds; ++round) { /* one to begin with: every page is touched */
    for (int from = 0; from < 2; ++from) {
      memset(block, rank == from ? round + 2 : 0, (size_t)bytes);
      double spent = transfer(from, block, bytes);
      for (int i = 0; i < bytes; ++i)
        if (block[i] != round + 2) bench_fail("messages: other bytes came");
      if (round >= 0) times[from][round] = spent;
    }
  }
  bench_say("mpi_to", bytes / bench_median(times[0], kRounds), "GB/s");
  bench_say("mpi_from", bytes / bench_median(times[1], kRounds), "GB/s");
  free(block);
}

int main(int argc, char** argv) {
  int nothing = argc == 2 && !strcmp(argv[1], "--nothing");
  int mib = argc == 3 && !strcmp(argv[1], "--mib") ? atoi(argv[2]) : 64;
  int size;
  if (mib < 1 || mib > 1024 || (argc != 1 && !nothing && argc != 3))
    bench_fail("usage: %s [--mib MIB, from 1 to 1024 | --nothing]", argv[0]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) bench_fail("messages needs 2 ranks, not %d", size);
  if (rank != 0) stdout = freopen("/dev/null", "w", stdout);
  if (!nothing) {
    round_trips();
    blocks(mib << 20);
  }
  MPI_Finalize();
  return 0;
}
