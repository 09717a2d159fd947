// SPDX-License-Identifier: Apache-2.0
//
// Start and end of MPI: rank, library, and the offset of this machine's clock to that of rank 0. The offset comes from
// ping-pongs on a communicator of the recorder: the reading of the peer is between two readings of rank 0, so the
// exchange with the shortest round trip bounds the error by half of this round trip (Cristian, 1989). It is measured at
// both ends of the run, which also gives the drift. Raw readings and round trips are stored; the reader of the trace
// does the arithmetic.
//
// Processes on one machine (same boot id) read the same counter: the lowest rank of each machine is measured, and sends
// the result to the others. Machines are measured one after the other, each against rank 0: a tree would be faster, but
// the errors of its levels would add up, and one machine takes well under a millisecond.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.hpp"
#include "base/rank.hpp"
#include "base/recorder.hpp"
#include "mpi/calls.hpp"

namespace marline::trace {
namespace {

// Ends when the best round trip has not become shorter in kRoundsWithoutGain exchanges, or after kMostRounds.
constexpr int kRoundsWithoutGain = 20;
constexpr int kMostRounds = 400;
enum Tag { kPing, kEnd };

// Rank 0's side for one machine: the peer answers each ping with its reading; at the end rank 0 sends it the best
// exchange.
void measure_peer(MPI_Comm comm, int peer) {
  ClockSample best = {0, 0, ~uint64_t{0}};
  int without_gain = 0;
  for (int i = 0; i < kMostRounds && without_gain < kRoundsWithoutGain; ++i) {
    ClockSample sample = {};
    sample.sent = read_cycles();
    mpi().Send(&sample.sent, 1, MPI_UINT64_T, peer, kPing, comm);
    mpi().Recv(&sample.local, 1, MPI_UINT64_T, peer, kPing, comm, MPI_STATUS_IGNORE);
    sample.received = read_cycles();
    ++without_gain;
    if (sample.received - sample.sent < best.received - best.sent) {
      best = sample;
      without_gain = 0;
    }
  }
  const uint64_t message[3] = {best.local, best.sent, best.received};
  mpi().Send(message, 3, MPI_UINT64_T, peer, kEnd, comm);
}

// The side of the other machine. The end is a longer message than a ping.
void answer_rank_0(MPI_Comm comm, uint64_t (&message)[3]) {
  for (;;) {
    MPI_Status status;
    mpi().Recv(message, 3, MPI_UINT64_T, 0, MPI_ANY_TAG, comm, &status);
    if (status.MPI_TAG == kEnd) {
      return;
    }
    const uint64_t reading = read_cycles();
    mpi().Send(&reading, 1, MPI_UINT64_T, 0, kPing, comm);
  }
}

uint64_t own_machine() {
  char text[64] = "";
  FILE* in = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (in != nullptr) {
    if (fgets(text, sizeof text, in) == nullptr) {
      text[0] = '\0';
    }
    fclose(in);
  }
  return fnv1a(text);
}

// On every rank: sets `machine_of` of each rank to the lowest rank on its machine. The second half is scratch.
void find_machines(MPI_Comm comm, int size, int* machine_of, uint64_t* all) {
  const uint64_t own = own_machine();
  mpi().Allgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm);
  int machines = 0;  // number of different machines at the front of `all`; `lowest` has their lowest ranks
  int* lowest = machine_of + size;
  for (int rank = 0; rank < size; ++rank) {
    int i = 0;
    while (i < machines && all[i] != all[rank]) {
      ++i;
    }
    if (i == machines) {
      all[machines] = all[rank];
      lowest[machines++] = rank;
    }
    machine_of[rank] = lowest[i];
  }
}

void measure_machines(MPI_Comm own, int rank, int size, const int* machine_of) {
  MPI_Comm machine;
  mpi().Comm_split(own, machine_of[rank], rank, &machine);
  if (rank == 0) {
    for (int peer = 1; peer < size; ++peer) {
      if (machine_of[peer] == peer) {
        measure_peer(own, peer);
      }
    }
  } else if (machine_of[rank] != 0) {
    uint64_t sample[3] = {};
    if (machine_of[rank] == rank) {
      answer_rank_0(own, sample);
    }
    mpi().Bcast(sample, 3, MPI_UINT64_T, 0, machine);
    add_clock_sample({sample[0], sample[1], sample[2]});
  }
  mpi().Comm_free(&machine);
}

void measure_clocks(int rank, int size) {
  auto* all = static_cast<uint64_t*>(malloc(sizeof(uint64_t) * static_cast<size_t>(size)));
  auto* machine_of = static_cast<int*>(malloc(2 * sizeof(int) * static_cast<size_t>(size)));
  if (all == nullptr || machine_of == nullptr) {
    fprintf(stderr, "marline-trace: no memory for the clocks of %d ranks: run fewer ranks, or give them more memory\n",
            size);
    mpi().Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // the other ranks wait for this one
  }
  MPI_Comm own;
  mpi().Comm_split(MPI_COMM_WORLD, 0, rank, &own);  // a duplicate would call the program's attribute copiers
  find_machines(own, size, machine_of, all);
  measure_machines(own, rank, size, machine_of);
  mpi().Comm_free(&own);
  free(machine_of);
  free(all);
}

// All ranks must take part or none: a rank that has no trace (no folder) would leave the others waiting.
bool all_are_described() {
  int mine = described() ? 1 : 0;
  int all = 0;
  mpi().Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

}  // namespace

void begin_mpi() {
  int rank = 0;
  int size = 0;
  int length = 0;
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  mpi().Comm_rank(MPI_COMM_WORLD, &rank);
  mpi().Comm_size(MPI_COMM_WORLD, &size);
  mpi().Get_library_version(library, &length);
  if (all_are_described()) {
    measure_clocks(rank, size);
  }
  set_mpi(rank, size, library);
}

void end_mpi() {
  int rank = 0;
  int size = 0;
  mpi().Comm_rank(MPI_COMM_WORLD, &rank);
  mpi().Comm_size(MPI_COMM_WORLD, &size);
  if (all_are_described()) {
    measure_clocks(rank, size);
  }
  write_metadata();
}

}  // namespace marline::trace
