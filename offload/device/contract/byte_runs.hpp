// SPDX-License-Identifier: Apache-2.0
//
// A run of bytes, as an offset from a start address that the user of the list of runs knows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

struct ByteRun {
  uint64_t offset, bytes;
  [[nodiscard]] uint64_t end() const { return offset + bytes; }
};

}  // namespace marline::offload::device
