// SPDX-License-Identifier: Apache-2.0
//
// In a worker: static variables of images, of which each node has its own. The program does not know them, so nothing
// keeps them coherent; a region that writes one is told of once, since its results may depend on where regions run.
// Looked at behind the 1st, 2nd, 4th, 8th, ... region: what it costs does not grow with their number. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// A region with this code is about to run: its image is remembered as it is, if it is new.
void watch_statics(uint64_t code);

// It has run. True, once: a variable has changed, and `text` says which; `region` and `place` as for describe_place.
[[nodiscard]] bool have_statics_changed(uint64_t code, const char* region, const char* place, char* text, size_t bytes);

}  // namespace marline::offload::device
