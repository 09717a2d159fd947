// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of a piece are copied: all but attached pointers, and of non-contiguous sections each run. The caller has
// the lock of the piece's mapping.
#pragma once

#include "items/items.hpp"
#include "device/contract/device.hpp"
#include "data/mapped_range.hpp"

namespace marline::offload::data {

using namespace device;
using namespace items;

// Appends the copies of [begin, begin + bytes).
void copy_around(Piece& piece, uintptr_t begin, size_t bytes, Array<Transfer>& to);

// All in one direction; done at the return. May suspend.
void make_copies(Device* device, const Array<Transfer>& copies, bool to_device, Told* told);

// The first byte of item i, a section that is not contiguous, as an update has it (Dimension).
[[nodiscard]] inline uintptr_t begin_of_parts(const Items& items, int32_t i) {
  return reinterpret_cast<uintptr_t>(items.bases[i]);
}

// Appends the copies of item i, a section that is not contiguous. Returns where a run begins that is not inside the
// piece; 0: all are.
[[nodiscard]] uintptr_t copy_parts(Piece& piece, const Items& items, int32_t i, Array<Transfer>& to);

}  // namespace marline::offload::data
