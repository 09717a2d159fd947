// SPDX-License-Identifier: Apache-2.0
//
// In a worker: warns of regions that write static variables of images. Each node has its own such variables. The
// program does not know them, so nothing keeps them coherent, and results may depend on the node that runs a region.
// The worker warns once. It compares the variables only after the 1st, 2nd, 4th, 8th, ... region, so that many regions
// cost hardly more than few. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// Must be called before a region with this code runs: keeps a copy of its image's static variables if the image is new.
void watch_statics(uint64_t code);

// Must be called after the region has run. Returns true, at most once, if a variable has changed; then `text` says
// which. `region` and `place` are as for describe_place.
[[nodiscard]] bool have_statics_changed(uint64_t code, const char* region, const char* place, char* text, size_t bytes);

}  // namespace marline::offload::device
