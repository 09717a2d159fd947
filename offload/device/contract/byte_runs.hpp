// SPDX-License-Identifier: Apache-2.0
//
// Runs of bytes, by their offsets from a begin that the user of the list knows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

struct ByteRun {
  uint64_t offset, bytes;
  [[nodiscard]] uint64_t end() const { return offset + bytes; }
};

}  // namespace marline::offload::device
