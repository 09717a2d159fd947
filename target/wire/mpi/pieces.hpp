// SPDX-License-Identifier: Apache-2.0
//
// The messages of one bulk. By the thread that owns it. The pieces of one bulk must all have been started before the
// first one of the next between the same processes: MPI matches them in their order.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::target {

void start_pieces(Wire* wire, Pieces& pieces);

// Looks for pieces that have ended and starts others. True if the bulk is through; stays so.
[[nodiscard]] bool test_pieces(Wire* wire, Pieces& pieces);

[[nodiscard]] inline bool all_started(const Pieces& pieces) { return pieces.started == pieces.bytes; }

}  // namespace marline::target
