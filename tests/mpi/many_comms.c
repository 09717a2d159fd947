/* SPDX-License-Identifier: Apache-2.0
 *
 * Communicators that are made and freed. In a long chain of duplicates, each is made from the previous one, which is
 * then freed: the memory of a process must not grow with the chain. Then many communicators exist at a time, made from
 * one another and freed in a shuffled order: each carries its own messages and collectives in tasks.
 */
#include "support.h"

enum { kChain = 60000, kWarmUp = 2000, kMostGrowth = 1024 * 1024, kComms = 200, kSteps = 500, kShuffle = 617 };

static MPI_Comm comms[kComms];

static void make_chain(MPI_Comm* last, int links) {
  for (int i = 0; i < links; ++i) {
    MPI_Comm next;
    expect(MPI_Comm_dup(*last, &next) == MPI_SUCCESS, "Comm_dup of a duplicate");
    MPI_Comm_free(last);
    *last = next;
  }
}

/* Each process for itself: only its memory is checked. */
static void chain(void) {
  MPI_Comm last;
  MPI_Comm_dup(MPI_COMM_SELF, &last);
  make_chain(&last, kWarmUp);
  const long before = resident_bytes();
  make_chain(&last, kChain);
  const long growth = resident_bytes() - before;
  MPI_Comm_free(&last);
  printf("rank %d: %d duplicates of duplicates: %ld bytes\n", world_rank, kChain, growth);
  expect(growth < kMostGrowth, "nothing remains of communicators that are freed");
}

static void use(int i) {
  int sum = 0, got = -1;
  const int peer = 1 - world_rank;
  expect(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]) == MPI_SUCCESS && sum == 2 * i, "Allreduce");
  MPI_Sendrecv(&i, 1, MPI_INT, peer, 0, &got, 1, MPI_INT, peer, 0, comms[i], MPI_STATUS_IGNORE);
  expect(got == i, "the message of the communicator");
}

static void use_all(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < kComms; ++i) {
#pragma omp task firstprivate(i)
    use(i);
  }
}

static void come_and_go(void) {
  for (int i = 0; i < kComms; ++i) MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : comms[i / 2], &comms[i]);
  use_all();
  for (int step = 1; step <= kSteps; ++step) {
    const int old = (int)((long)step * kShuffle % kComms);
    MPI_Comm_free(&comms[old]);
    MPI_Comm_dup(comms[(old + step) % kComms == old ? (old + 1) % kComms : (old + step) % kComms], &comms[old]);
  }
  use_all();
  for (int i = 0; i < kComms; ++i) MPI_Comm_free(&comms[i]);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  chain();
  come_and_go();
  return finish();
}
