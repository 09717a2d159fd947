// SPDX-License-Identifier: Apache-2.0
//
// A block of storage on a device that small map entries of one construct share (storage.cpp). The construct that has
// made the block adds entries under the lock of the Mapping. Any thread removes entries.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::data {

struct StorageBlock {
  uint64_t allocation;
  uint64_t end;
  std::atomic<uint32_t> entries;  // number of entries in the block; removing the last one releases the block
};

}  // namespace marline::offload::data
