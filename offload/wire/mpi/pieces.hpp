// SPDX-License-Identifier: Apache-2.0
//
// The messages of one bulk. By the thread that owns it. The pieces of one bulk must all have been started before the
// first one of the next between the same processes: MPI matches them in their order.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

void start_pieces(Wire* wire, Pieces& pieces);

// Looks whether the oldest piece has ended, and starts the next. kThrough, of the bulk, stays so.
enum class Progress : uint8_t { kNone, kSome, kThrough };
[[nodiscard]] Progress test_pieces(Wire* wire, Pieces& pieces);

[[nodiscard]] inline bool all_started(const Pieces& pieces) { return pieces.started == pieces.bytes; }

}  // namespace marline::offload::wire
