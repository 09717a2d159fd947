// SPDX-License-Identifier: Apache-2.0
//
// The storage of map entries on a device. On devices with expensive allocations (Device::shares_storage), the many
// small entries of one construct lie side by side in blocks. A mapper makes such entries for arrays that the elements
// of another array point to. The rest of a block is not used after its construct has ended, and a block stays until its
// last entry goes. Called with the lock of the data environment, except `release`.
#pragma once

#include "base/ranges.hpp"
#include "data/map_entry.hpp"
#include "device/contract/device.hpp"

#include <atomic>
#include <cstdint>

namespace marline::offload::data {

using namespace device;

// Addresses of the same data on host and device are equal modulo this number, so every alignment up to it is kept.
inline constexpr uintptr_t kLine = 64;

struct StorageBlock {
  uint64_t allocation;
  uint64_t end;
  std::atomic<uint32_t> entries;  // number of entries in the block; removing the last one releases the block
};

// The blocks that one construct makes.
struct NewBlocks {
  bool may_share = false;
  StorageBlock* block = nullptr;  // the newest block
  uint64_t next = 0;              // device address of the free rest of this block
};

class Storage {
 public:
  explicit Storage(Device* device) : device_(device) {}

  // Whether the small entries of a construct with so many items share blocks.
  [[nodiscard]] bool is_shared(int32_t items) const;
  // Gives the map entry memory on the device. False: there is none.
  [[nodiscard]] bool allocate(MapEntry* entry, NewBlocks& blocks);
  // Any thread, without the lock: the device may end operations meanwhile, and these call the data environment.
  void release(const MapEntry* entry);

  // Gives host memory a fixed address on the device, at which later map entries have their storage: for a variable of
  // `declare target link`.
  void add_place(const void* host, size_t bytes, uint64_t address);
  void remove_place(const void* host);

 private:
  bool allocate_in_block(MapEntry* entry, NewBlocks& blocks);

  Device* device_;
  Ranges places_;
};

}  // namespace marline::offload::data
