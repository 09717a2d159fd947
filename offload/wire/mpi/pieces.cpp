// SPDX-License-Identifier: Apache-2.0
//
// Starts and tests the pieces of a bulk.
#include "wire/mpi/pieces.hpp"

#include "wire/mpi/give_up.hpp"

namespace marline::offload::wire {

namespace {

void start_piece(Wire* wire, Pieces& pieces, int bytes) {
  char* at = pieces.dropped ? pieces.at : pieces.at + pieces.started;
  MPI_Request* request = &pieces.requests[pieces.next % kPiecesInFlight];
  MpiSection section(wire);
  if (pieces.sending) {
    check(wire, mpi.isend(at, bytes, mpi.byte, pieces.peer, kBulkTag, wire->bulks, request), "MPI_Isend", pieces.peer);
  } else {
    check(wire, mpi.irecv(at, bytes, mpi.byte, pieces.peer, kBulkTag, wire->bulks, request), "MPI_Irecv", pieces.peer);
  }
}

bool test_first(Wire* wire, Pieces& pieces) {
  int done = 0;
  MpiSection section(wire);
  check(wire, mpi.test(&pieces.requests[pieces.first % kPiecesInFlight], &done, MPI_STATUS_IGNORE), "MPI_Test",
        pieces.peer);
  return done != 0;
}

}  // namespace

void start_pieces(Wire* wire, Pieces& pieces) {
  // All receives of a dropped bulk use one place, and must not overlap.
  const uint32_t most = pieces.dropped ? 1 : kPiecesInFlight;
  while (!all_started(pieces) && pieces.next - pieces.first < most) {
    const uint64_t left = pieces.bytes - pieces.started;
    const uint64_t bytes = left < kPiece ? left : kPiece;
    start_piece(wire, pieces, static_cast<int>(bytes));
    pieces.started += bytes;
    ++pieces.next;
  }
}

Progress test_pieces(Wire* wire, Pieces& pieces) {
  Progress progress = Progress::kNone;
  if (pieces.first != pieces.next && test_first(wire, pieces)) {
    ++pieces.first;
    start_pieces(wire, pieces);
    progress = Progress::kSome;
  }
  return pieces.first == pieces.next ? Progress::kThrough : progress;
}

}  // namespace marline::offload::wire
