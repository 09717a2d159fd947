// SPDX-License-Identifier: Apache-2.0
//
// Sends or receives one bulk as several messages, its pieces. The thread that owns the bulk calls these functions. The
// pieces of one bulk must all have been started before the first piece of the next bulk between the same processes,
// because MPI matches them in order.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

void start_pieces(Wire* wire, Pieces& pieces);

// Tests whether the oldest piece is complete, and starts the next one. After kThrough, which means that the bulk is
// complete, further calls return kThrough.
enum class Progress : uint8_t { kNone, kSome, kThrough };
[[nodiscard]] Progress test_pieces(Wire* wire, Pieces& pieces);

[[nodiscard]] inline bool all_started(const Pieces& pieces) { return pieces.started == pieces.bytes; }

}  // namespace marline::offload::wire
