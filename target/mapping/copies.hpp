// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of a piece are copied: all but attached pointers, and of non-contiguous sections each run. The caller has
// the lock of the piece's mapping.
#pragma once

#include "base/items.hpp"
#include "mapping/piece.hpp"

namespace marline::target {

// Appends the copies of [begin, begin + bytes).
void copy_around(Piece& piece, uintptr_t begin, size_t bytes, Array<Transfer>& to);

// Appends those of a section with `dimensions` dimensions whose array begins at `base`. Ends the program if a run lies
// outside of the piece.
void copy_parts(Piece& piece, uintptr_t base, const Dimension* list, int64_t dimensions, Array<Transfer>& to);

// False: the pointer is attached to this value already.
[[nodiscard]] bool note_attachment(Piece& piece, uintptr_t slot, uint64_t value);

}  // namespace marline::target
