// SPDX-License-Identifier: Apache-2.0
//
// Allocates the storage of map entries on the device. On devices with expensive allocations (Device::shares_storage),
// the many small entries of one construct lie side by side in blocks. A mapper makes such entries for arrays that the
// elements of another array point to. The rest of a block is not used after its construct has ended, and a block stays
// until its last entry goes.
#include "data/storage.hpp"

#include "base/make.hpp"
#include "base/report.hpp"
#include "data/data_environment.hpp"
#include "data/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace marline::offload::data {

using namespace device;
using namespace items;

namespace {

constexpr int32_t kManyItems = 64;  // at least, in a construct that shares storage
constexpr size_t kSmall = 4096;     // bytes of the largest entries that share storage
// Bytes; each block is twice as large as the one before it.
constexpr size_t kFirstBlock = 16 << 10, kLargestBlock = 256 << 10;

// The first address from `from` on that is equal to the host's modulo kLine.
uint64_t fitting_address(uint64_t from, uintptr_t host) { return from + (host - from) % kLine; }

StorageBlock* make_block(Device* device, size_t bytes) {
  uint64_t allocation = device->kind->allocate(device, bytes);
  if (allocation == 0) return nullptr;
  return make<StorageBlock>("the list of mapped data", allocation, allocation + bytes, 0);
}

}  // namespace

bool Mapping::shares_storage(const Items& items) const { return device_->shares_storage && items.count >= kManyItems; }

// Gives the map entry memory on the device. False: there is none.
bool Mapping::locate(MapEntry* entry, Plan& plan) {
  auto* place = static_cast<Place*>(places_.first_overlap(entry->begin, entry->end));
  if (place != nullptr && place->contains(entry->begin, entry->end)) {
    entry->address = place->address + (entry->begin - place->begin);
    return true;
  }
  size_t bytes = entry->end - entry->begin;
  if (plan.may_share && bytes <= kSmall && locate_in_block(entry, plan)) return true;
  uintptr_t offset = entry->begin % kLine;
  entry->allocation = device_->kind->allocate(device_, bytes + offset);
  entry->address = entry->allocation + offset;
  return entry->allocation != 0;
}

// Puts the map entry after the one that the construct has created before. False: the device has no memory for a block.
bool Mapping::locate_in_block(MapEntry* entry, Plan& plan) {
  static_assert(kSmall + kLine <= kFirstBlock);
  size_t bytes = entry->end - entry->begin;
  if (plan.block == nullptr || fitting_address(plan.block_next, entry->begin) + bytes > plan.block->end) {
    size_t last = plan.block != nullptr ? plan.block->end - plan.block->allocation : kFirstBlock / 2;
    StorageBlock* block = make_block(device_, std::min(2 * last, kLargestBlock));
    if (block == nullptr) return false;
    plan.block = block;
    plan.block_next = block->allocation;
  }
  entry->block = plan.block;
  entry->allocation = plan.block_next;
  entry->address = fitting_address(plan.block_next, entry->begin);
  plan.block_next = entry->address + bytes;
  ++plan.block->entries;
  return true;
}

void Mapping::release_storage(const MapEntry* entry) {
  StorageBlock* block = entry->block;
  if (block == nullptr) {
    if (entry->allocation != 0) device_->kind->release(device_, entry->allocation);
    return;
  }
  if (--block->entries != 0) return;
  device_->kind->release(device_, block->allocation);
  std::free(block);
}

}  // namespace marline::offload::data
