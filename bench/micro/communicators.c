/* SPDX-License-Identifier: Apache-2.0
 *
 * What Marline's records of communicators cost. `message_N`: time per message of one rank to itself, on N communicators
 * in turn, N = 1 to 10^4 (MPICH 4.0 has no more than 2,000). `dup_of_dup_N`: time to duplicate the last duplicate and
 * free the previous one, after N duplicates: it must not grow with N. Plain MPI outside of any region, for comparison
 * without Marline.
 */
#include "bench.h"

#include <mpi.h>

enum { kMostComms = 10000, kMessages = 100000, kRounds = 3, kChain = 1000, kMostDups = 100000 };

static MPI_Comm comms[kMostComms];
static int comm_count;

static int asked_for(const char* name) {
  return !bench_options.only || !strncmp(bench_options.only, name, strlen(bench_options.only));
}

/* As many as asked for, or as MPI has. */
static void make_comms(int count) {
  for (; comm_count < count; ++comm_count)
    if (MPI_Comm_dup(MPI_COMM_WORLD, &comms[comm_count]) != MPI_SUCCESS) return;
}

static double pass_messages(void) {
  double start = bench_now();
  for (int i = 0; i < kMessages; ++i) {
    int message = -1;
    MPI_Request request;
    MPI_Irecv(&message, 1, MPI_INT, 0, 0, comms[i % comm_count], &request);
    MPI_Send(&i, 1, MPI_INT, 0, 0, comms[i % comm_count]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (message != i) bench_fail("message: wrong message");
  }
  return (bench_now() - start) / kMessages;
}

static void measure_messages(int comm_goal) {
  char name[kBenchLine];
  double times[kRounds];
  snprintf(name, sizeof name, "message_%d", comm_goal);
  if (!asked_for(name)) return;
  make_comms(comm_goal);
  if (comm_count < comm_goal) {
    printf("# %s MPI makes no more than %d communicators\n", name, comm_count);
    return;
  }
  for (int i = 0; i < kRounds; ++i) times[i] = pass_messages();
  bench_say(name, bench_median(times, kRounds), "ns");
}

static void measure_chain(void) {
  char name[kBenchLine];
  MPI_Comm last, next;
  MPI_Comm_dup(MPI_COMM_WORLD, &last);
  double start = bench_now();
  for (int made = 0; made <= kMostDups; ++made) {
    if (made % kChain == 0) {
      double elapsed = bench_now() - start;
      snprintf(name, sizeof name, "dup_of_dup_%d", made);
      if (made == kChain || made == 10 * kChain || made == kMostDups) bench_say(name, elapsed / kChain, "ns");
      start = bench_now();
    }
    if (MPI_Comm_dup(last, &next) != MPI_SUCCESS) bench_fail("dup_of_dup: MPI_Comm_dup failed");
    MPI_Comm_free(&last);
    last = next;
  }
  MPI_Comm_free(&last);
}

static long resident_kib(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return 4 * pages;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench_init(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (asked_for("dup_of_dup")) {
    long before = resident_kib();
    measure_chain();
    printf("# dup_of_dup_memory_kib %ld\n", resident_kib() - before);
  }
  for (int count = 1; count <= kMostComms; count *= 10) measure_messages(count);
  while (comm_count > 0) MPI_Comm_free(&comms[--comm_count]);
  MPI_Finalize();
  return 0;
}
