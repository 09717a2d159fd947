/* SPDX-License-Identifier: Apache-2.0
 *
 * A blocking send and receive outside of tasks whose message is there already: the only rank sends 8 bytes to itself
 * and receives them. No rank waits for another one, so the instructions of a pair can be counted
 * (bench/instructions.py): what the program has more under Marline than without it is what Marline's layer adds to the
 * two calls. A region comes first, so that the runtime knows the thread, as in a program that has regions.
 */
#include "bench.h"

#include <mpi.h>

enum { kTag = 7 };

static long sum;

static void pass_pairs(long rounds) {
  sum = 0;
  for (long round = 0; round < rounds; ++round) {
    long message = -1;
    MPI_Send(&round, 1, MPI_LONG, 0, kTag, MPI_COMM_WORLD);
    MPI_Recv(&message, 1, MPI_LONG, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += message;
  }
}

static int check_pairs(long rounds) { return sum == rounds * (rounds - 1) / 2; }

int main(int argc, char** argv) {
  int provided;
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) bench_fail("mpi_pair needs MPI_THREAD_MULTIPLE, got level %d", provided);
#pragma omp parallel reduction(+ : threads)
  ++threads;
  if (threads < 1) bench_fail("mpi_pair: a region without threads");
  const struct BenchFigure figures[] = {{"mpi_pair", "ns", 1, pass_pairs, check_pairs, NULL}};
  const int status = bench_main(argc, argv, figures, 1);
  MPI_Finalize();
  return status;
}
