/* SPDX-License-Identifier: Apache-2.0
 *
 * Many messages at a time: N receives are open before the first of N messages of 8 bytes is sent, for N = 10^3, 10^4
 * and 10^5. The receives are N requests and MPI_Waitall outside any region (`plain_N`), or N tasks of one blocking
 * receive each (`tasks_N`); by turns. Time per message, from the word to send until all have been received; in tasks,
 * their creation and the suspensions are before it. Only a runtime that suspends a blocked task can do the latter. Rank
 * 0 receives, keeps time and prints. All messages have one tag, so MPI matches each with the first receive that is
 * open: a time that grows with N is due to the code that polls the requests.
 */
#include "bench.h"
#include "two_ranks.h"

#include <mpi.h>

enum { kSizes = 3, kRounds = 5, kTag = 7, kGo = 8 };
static const long kSize[kSizes] = {1000, 10000, 100000};

static int rank;
static long* messages;
static MPI_Request* requests;

static double let_go(void) {
  double start = bench_now();
  MPI_Send(NULL, 0, MPI_BYTE, 1, kGo, MPI_COMM_WORLD);
  return start;
}

static double receive_by_requests(long count) {
  for (long i = 0; i < count; ++i) MPI_Irecv(&messages[i], 1, MPI_LONG, 1, kTag, MPI_COMM_WORLD, &requests[i]);
  double start = let_go();
  MPI_Waitall((int)count, requests, MPI_STATUSES_IGNORE);
  return bench_now() - start;
}

static double receive_in_tasks(long count) {
  long begun = 0;
  double start = 0;
#pragma omp parallel
#pragma omp single
  {
    for (long i = 0; i < count; ++i) {
#pragma omp task untied firstprivate(i) shared(begun)
      {
        __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
        MPI_Recv(&messages[i], 1, MPI_LONG, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < count) {
#pragma omp taskyield
    }
    start = let_go();
#pragma omp taskwait
  }
  return bench_now() - start;
}

static void send_all(long count) {
  MPI_Recv(NULL, 0, MPI_BYTE, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (long i = 0; i < count; ++i) MPI_Send(&i, 1, MPI_LONG, 0, kTag, MPI_COMM_WORLD);
}

/* Tasks may have posted their receives in any order, so each message must be there once, at any place. */
static void check(long count) {
  long sum = 0;
  for (long i = 0; i < count; ++i) sum += messages[i];
  if (sum == count * (count - 1) / 2) return;
  fprintf(stderr, "bench: in_flight: wrong messages\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double one_round(long count, double (*receive)(long)) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    send_all(count);
    return 0;
  }
  double spent = receive(count);
  check(count);
  return spent / (double)count;
}

static void measure(long count) {
  double plain[kRounds], tasks[kRounds];
  char name[kBenchLine];
  for (int round = 0; round < kRounds; ++round) {
    plain[round] = one_round(count, receive_by_requests);
    tasks[round] = one_round(count, receive_in_tasks);
  }
  snprintf(name, sizeof name, "plain_%ld", count);
  bench_say(name, bench_median(plain, kRounds), "ns");
  snprintf(name, sizeof name, "tasks_%ld", count);
  bench_say(name, bench_median(tasks, kRounds), "ns");
}

int main(int argc, char** argv) {
  rank = bench_init_two_ranks(argc, argv, "in_flight");
  messages = calloc((size_t)kSize[kSizes - 1], sizeof *messages);
  requests = calloc((size_t)kSize[kSizes - 1], sizeof *requests);
  if (!messages || !requests) bench_fail("in_flight: not enough memory");
  for (int i = 0; i < kSizes; ++i) measure(kSize[i]);
  free(requests);
  free(messages);
  MPI_Finalize();
  return 0;
}
