// SPDX-License-Identifier: Apache-2.0
//
// Start and end of MPI: rank, library, and the offset of this rank's clock to rank 0's. The offset comes from
// ping-pongs on a communicator of our own: the reading of the peer lies between two of rank 0's, so the exchange with
// the shortest round trip bounds the error by half of it (Cristian, 1989). Measured at both ends of the run, it gives
// the drift too. Raw readings are stored; the reader does the arithmetic.
#include "clock.hpp"
#include "mpi_calls.hpp"
#include "recorder.hpp"

namespace marline::trace {
namespace {

constexpr int kRounds = 20;

// Rank 0's side for one peer: the peer answers each ping with its reading; at the end it is told the best round.
void measure_peer(MPI_Comm comm, int peer) {
  ClockSample best = {};
  for (int i = 0; i < kRounds; ++i) {
    ClockSample sample = {};
    sample.sent = read_cycles();
    PMPI_Send(&sample.sent, 1, MPI_UINT64_T, peer, 0, comm);
    PMPI_Recv(&sample.local, 1, MPI_UINT64_T, peer, 0, comm, MPI_STATUS_IGNORE);
    sample.received = read_cycles();
    if (i == 0 || sample.received - sample.sent < best.received - best.sent) {
      best = sample;
    }
  }
  const uint64_t message[3] = {best.local, best.sent, best.received};
  PMPI_Send(message, 3, MPI_UINT64_T, peer, 1, comm);
}

void answer_rank_0(MPI_Comm comm) {
  for (int i = 0; i < kRounds; ++i) {
    uint64_t ping = 0;
    PMPI_Recv(&ping, 1, MPI_UINT64_T, 0, 0, comm, MPI_STATUS_IGNORE);
    const uint64_t reading = read_cycles();
    PMPI_Send(&reading, 1, MPI_UINT64_T, 0, 0, comm);
  }
  uint64_t message[3] = {};
  PMPI_Recv(message, 3, MPI_UINT64_T, 0, 1, comm, MPI_STATUS_IGNORE);
  add_clock_sample({message[0], message[1], message[2]});
}

void measure_clocks(int rank, int size) {
  MPI_Comm own;
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  if (rank != 0) {
    answer_rank_0(own);
  } else {
    for (int peer = 1; peer < size; ++peer) {
      measure_peer(own, peer);
    }
  }
  PMPI_Comm_free(&own);
}

// All ranks must take part or none: one that does not record (no folder, disk full) would leave the others waiting.
bool all_record() {
  int mine = recording() ? 1 : 0;
  int all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

}  // namespace

void begin_mpi() {
  int rank = 0;
  int size = 0;
  int length = 0;
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Get_library_version(library, &length);
  if (all_record()) {
    measure_clocks(rank, size);
  }
  set_mpi(rank, size, library);
}

void end_mpi() {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (all_record()) {
    measure_clocks(rank, size);
  }
  write_metadata();
}

}  // namespace marline::trace
