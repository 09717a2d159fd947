// SPDX-License-Identifier: Apache-2.0
//
// Splits a rectangular copy (OpenMP 5.2, 18.8.6) into runs of bytes, for the host's own copies and for devices. Any
// thread.
#pragma once

#include "marline/devices.h"

namespace marline {

using CopyRun = void (*)(void* data, size_t to_offset, size_t from_offset, size_t bytes);

// Calls `copy` for each run. `to` and `from`: the offsets of the rectangle's arrays, added to the offsets that `copy`
// gets.
void rectangle_runs(const marline_rectangle_t& rectangle, size_t to, size_t from, CopyRun copy, void* data);

}  // namespace marline
