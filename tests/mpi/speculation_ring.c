/* SPDX-License-Identifier: Apache-2.0
 *
 *   speculation_ring RUNS SLOW
 *
 * An iteration on three ranks: each rank sends its value to the right, adds the value from the left, and all ranks
 * build a sum. A task of its own asks whether iteration kEnough is the last one needed; its answer comes while later
 * iterations are already running. Rank SLOW sleeps here and there, so that the others are ahead of it. RUNS solver runs
 * on one communicator: each must end with the values of iteration kEnough, leave nothing, and receive only its own
 * messages.
 */
#include <stdint.h>

#include "speculation.h"

enum { kRanks = 3, kMost = 60, kEnough = 7, kDepth = 5, kTag = 3, kLarge = 20000 };

typedef struct {
  int run;
  int iteration;
  uint64_t value;
} Message;

static MPI_Comm comm, judges;
static marline_mpi_speculation_t* scope;
static int run_number, slow, last;
static uint64_t value, total;
static union {
  Message message;
  char room[kLarge];
} in[2], out[2];
static uint64_t values[kDepth], totals[kDepth]; /* after iteration k, at k % kDepth */

/* Small messages leave their buffers at once, large ones when they are received. */
static int bytes_of(int k) { return k % 3 == 0 ? kLarge : (int)sizeof(Message); }

static void sleep_if_slow(int k) {
  if (world_rank == slow && k % 4 == 3) usleep(2000);
}

static uint64_t next_value(uint64_t mine, uint64_t left) { return mine * 3 + left + 1; }

static void receive(int k) {
  Message* message = &in[k % 2].message;
  MPI_Recv(in[k % 2].room, bytes_of(k), MPI_CHAR, (world_rank + kRanks - 1) % kRanks, kTag + k % 2, comm,
           MPI_STATUS_IGNORE);
  expect(marline.task_cancelled() == 1 || (message->run == run_number && message->iteration == k),
         "the message is this run's and this iteration's");
}

static void send(int k) {
  sleep_if_slow(k);
  out[k % 2].message = (Message){run_number, k, value};
  MPI_Send(out[k % 2].room, bytes_of(k), MPI_CHAR, (world_rank + 1) % kRanks, kTag + k % 2, comm);
}

static void step(int k) { value = values[k % kDepth] = next_value(value, in[k % 2].message.value); }

static void sum(int k) {
  uint64_t all = 0;
  MPI_Allreduce(&values[k % kDepth], &all, 1, MPI_UINT64_T, MPI_SUM, comm);
  totals[k % kDepth] = total = all;
}

/* Only one rank knows that the run has ended, as in a solver with a norm that is a sum. */
static void judge(int k) {
  int mine = world_rank == 1 && k == kEnough, enough = 0;
  sleep_if_slow(k);
  MPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MAX, judges);
  if (enough) {
    last = k;
    marline.stop(scope);
  }
}

static void create_iteration(int k) {
  char *got = in[k % 2].room, *sent = out[k % 2].room;
  uint64_t *kept = &values[k % kDepth], *summed = &totals[k % kDepth];
  (void)got, (void)sent, (void)kept, (void)summed;
#pragma omp task untied firstprivate(k) depend(out : got[0])
  receive(k);
#pragma omp task untied firstprivate(k) depend(in : value) depend(out : sent[0])
  send(k);
#pragma omp task firstprivate(k) depend(in : got[0]) depend(inout : value) depend(out : kept[0])
  step(k);
#pragma omp task untied firstprivate(k) depend(in : kept[0]) depend(inout : total) depend(out : summed[0])
  sum(k);
#pragma omp task untied firstprivate(k) depend(in : kept[0], summed[0]) depend(inout : last)
  judge(k);
}

static void solve(marline_mpi_speculation_counts_t* counts) {
  value = (uint64_t)(10 * run_number + world_rank);
  last = -1;
  scope = marline.begin(comm);
  expect(scope != NULL, "there is a scope");
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  for (int k = 1; k <= kMost && !marline.cancelled(); ++k) create_iteration(k);
  marline.end(scope, counts);
}

static void check_result(void) {
  uint64_t all[kRanks], next[kRanks], expected = 0;
  for (int r = 0; r < kRanks; ++r) all[r] = (uint64_t)(10 * run_number + r);
  for (int k = 1; k <= kEnough; ++k) {
    for (int r = 0; r < kRanks; ++r) next[r] = next_value(all[r], all[(r + kRanks - 1) % kRanks]);
    memcpy(all, next, sizeof all);
  }
  for (int r = 0; r < kRanks; ++r) expected += all[r];
  expect(last == kEnough, "the solver stopped after the iteration that suffices");
  expect(values[kEnough % kDepth] == all[world_rank], "the value of that iteration is there");
  expect(totals[kEnough % kDepth] == expected, "and its sum");
}

int main(int argc, char** argv) {
  start(&argc, &argv, kRanks);
  find_marline();
  slow = argc > 2 ? atoi(argv[2]) : 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &judges);
  for (run_number = 1; run_number <= (argc > 1 ? atoi(argv[1]) : 2); ++run_number) {
    marline_mpi_speculation_counts_t counts;
    solve(&counts);
    check_result();
    expect_no_leftovers(comm, &counts);
    printf("rank %d: run %d: withdrawn %d drained %d refused %d completed %d\n", world_rank, run_number,
           (int)counts.withdrawn, (int)counts.drained, (int)counts.refused, (int)counts.completed);
  }
  MPI_Comm_free(&comm);
  MPI_Comm_free(&judges);
  return finish();
}
