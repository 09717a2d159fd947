/* SPDX-License-Identifier: Apache-2.0
 *
 * Each kind of operation that can be pending when a speculation scope is stopped, once, on three ranks: receives that
 * wait, also from any source, small and large messages that are not received, a probe, both halves of MPI_Sendrecv,
 * collectives that one rank has entered, or two, and tasks that run on and call then. The task that stops is created
 * first, and held back until all others have begun. Twice on one communicator, with ordinary traffic in between.
 *
 * With one thread, a task that has begun waits in its call when another one runs, so it is known what the stop finds.
 * With more threads, calls may come after the stop and be refused.
 */
#include "speculation.h"

enum { kLarge = 1 << 20, kTag = 5 };

static MPI_Comm comm;
static marline_mpi_speculation_t* scope;
static int begun, stopped; /* atomic */
static char large[2][kLarge];
static char gate;

static void begin(void) { __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED); }

static void expect_cancelled(MPI_Status* status) {
  int cancelled = 0;
  MPI_Test_cancelled(status, &cancelled);
  expect(cancelled || status->MPI_SOURCE == MPI_PROC_NULL, "the receive was cancelled, or one from nobody");
  expect(marline.task_cancelled() == 1, "the task knows that it is");
}

static void receive_in_vain(int source, int tag) {
  MPI_Status status;
  int value = 17;
#pragma omp task firstprivate(source, tag, value) private(status)
  {
    begin();
    MPI_Recv(&value, 1, MPI_INT, source, tag, comm, &status);
    expect_cancelled(&status);
    expect(value == 17, "nothing was received");
  }
}

static void send_in_vain(int receiver, int bytes) {
#pragma omp task firstprivate(receiver, bytes)
  {
    begin();
    MPI_Send(large[0], bytes, MPI_CHAR, receiver, kTag, comm);
  }
}

static void probe_in_vain(int source) {
#pragma omp task firstprivate(source)
  {
    MPI_Status status;
    begin();
    MPI_Probe(source, kTag + 1, comm, &status);
    expect(status.MPI_SOURCE == MPI_PROC_NULL, "there was nothing to probe");
  }
}

static void exchange_in_vain(int receiver, int source) {
#pragma omp task firstprivate(receiver, source)
  {
    MPI_Status status;
    begin();
    MPI_Sendrecv(large[0], kLarge, MPI_CHAR, receiver, kTag, large[1], 1, MPI_CHAR, source, kTag + 2, comm, &status);
    expect_cancelled(&status);
  }
}

/* Bcast and Reduce may end on this rank without the others, and do with Open MPI. */
static void enter_collectives(int how_many) {
#pragma omp task firstprivate(how_many)
  {
    double value = 1, sum = 0;
    begin();
    if (how_many > 0) MPI_Bcast(&value, 1, MPI_DOUBLE, 1, comm);
    if (how_many > 1) MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (how_many > 2) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  }
}

static void run_on(void) {
#pragma omp task untied
  {
    int value = 17, sum = 18;
    MPI_Status status;
    begin();
    while (!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
    }
    MPI_Send(&value, 1, MPI_INT, (world_rank + 1) % 3, kTag, comm);
    MPI_Recv(&value, 1, MPI_INT, (world_rank + 2) % 3, kTag, comm, &status);
    expect(status.MPI_SOURCE == MPI_PROC_NULL, "a receive after the stop is one from nobody");
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(value == 17 && sum == 18, "calls after the stop do nothing");
  }
}

static int create_pieces(void) {
  switch (world_rank) {
    case 0:
      receive_in_vain(1, kTag);
      send_in_vain(1, kLarge);
      send_in_vain(2, 4);
      probe_in_vain(2);
      run_on();
      return 5;
    case 1:
      receive_in_vain(MPI_ANY_SOURCE, kTag + 3);
      receive_in_vain(2, MPI_ANY_TAG);
      enter_collectives(3);
      return 3;
    default:
      exchange_in_vain(0, 1);
      enter_collectives(1);
      run_on();
      return 3;
  }
}

static void speculate(marline_mpi_speculation_counts_t* counts) {
  omp_event_handle_t opened;
  begun = stopped = 0;
  scope = marline.begin(comm);
  expect(scope != NULL, "there is a scope");
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task detach(opened) depend(out : gate)
    {
    }
#pragma omp task depend(in : gate)
    {
      marline.stop(scope);
      __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
    }
    int pieces = create_pieces();
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < pieces) {
#pragma omp taskyield
    }
    let_peer_block();
    omp_fulfill_event(opened);
  }
  marline.end(scope, counts);
}

static void check_counts(const marline_mpi_speculation_counts_t* counts) {
  static const struct {
    uint64_t sent, withdrawn, drained, calls_on_all; /* calls_on_all: collectives and refused calls */
  } expected[3] = {{2, 1, 1, 3}, {0, 2, 1, 3}, {1, 1, 1, 4}};
  printf("rank %d: sent %d received %d withdrawn %d drained %d refused %d entered %d completed %d\n", world_rank,
         (int)counts->sent, (int)counts->received, (int)counts->withdrawn, (int)counts->drained, (int)counts->refused,
         (int)counts->entered, (int)counts->completed);
  if (omp_get_max_threads() > 1) return;
  expect(counts->sent == expected[world_rank].sent && counts->received == 0, "what was sent, and received by none");
  expect(counts->withdrawn == expected[world_rank].withdrawn, "receives were cancelled");
  expect(counts->drained == expected[world_rank].drained, "messages were drained");
  expect(counts->entered + counts->refused == expected[world_rank].calls_on_all,
         "collectives and calls after the stop");
  expect(world_rank != 0 || counts->completed > 0, "collectives were completed");
}

/* With the tags and sizes of the cancelled operations. */
static void ordinary_traffic(void) {
  int value = world_rank, got = -1, sum = 0;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  MPI_Send(&value, 1, MPI_INT, (world_rank + 1) % 3, kTag, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got == (world_rank + 2) % 3, "the message is this round's");
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == 3, "the sum is this round's");
}

int main(int argc, char** argv) {
  start(&argc, &argv, 3);
  find_marline();
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int round = 0; round < 2; ++round) {
    marline_mpi_speculation_counts_t counts;
    speculate(&counts);
    check_counts(&counts);
    expect_no_leftovers(comm, &counts);
    ordinary_traffic();
  }
  MPI_Comm_free(&comm);
  return finish();
}
