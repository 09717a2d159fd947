// SPDX-License-Identifier: Apache-2.0
//
// Storage on a device that small pieces of one construct share (storage.cpp). Pieces are added under the lock of the
// mapping, by the construct that has made the block, and leave by any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::data {

struct StorageBlock {
  uint64_t allocation;
  uint64_t end;
  std::atomic<uint32_t> pieces;  // that have not left: the last one releases the block
};

}  // namespace marline::offload::data
