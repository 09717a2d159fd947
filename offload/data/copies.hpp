// SPDX-License-Identifier: Apache-2.0
//
// Lists and makes copies of a map entry's data. Attached pointers are not copied; sections that are not contiguous are
// copied run by run. The caller holds the lock of the data environment, but not for make_copies.
#pragma once

#include "items/items.hpp"
#include "device/contract/device.hpp"
#include "data/map_entry.hpp"

namespace marline::offload::data {

using namespace device;
using namespace items;

// One copy between host and device.
struct Transfer {
  uint64_t device;
  void* host;
  size_t bytes;
  bool fills = false;  // see DeviceCopy::fills
};

// Appends the copies of the bytes in [begin, begin + bytes).
void copy_around(MapEntry& entry, uintptr_t begin, size_t bytes, List<Transfer, 8>& to);

// Makes the copies, all in one direction. They are done when this returns. May suspend.
void make_copies(Device* device, const List<Transfer, 8>& copies, bool to_device, ReportedConstruct* reported);

// The address of the first byte of item i, a section that is not contiguous, in a target update (see Dimension).
[[nodiscard]] inline uintptr_t begin_of_parts(const Items& items, int32_t i) { return base_of(items, i); }

// Appends the copies of item i, a section that is not contiguous. Returns where a run begins that is not inside the map
// entry; 0: all runs are inside.
[[nodiscard]] uintptr_t copy_parts(MapEntry& entry, const Items& items, int32_t i, List<Transfer, 8>& to);

}  // namespace marline::offload::data
