// SPDX-License-Identifier: Apache-2.0
//
// Allocates the storage of map entries, alone or in blocks.
#include "data/storage.hpp"

#include "base/make.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

constexpr int32_t kManyItems = 64;  // a construct with at least so many items puts small entries into shared blocks
constexpr size_t kSmall = 4096;     // bytes of the largest entries that share storage
// Bytes; each block is twice as large as the one before it.
constexpr size_t kFirstBlock = 16 << 10, kLargestBlock = 256 << 10;

// A fixed address on the device for a range of host memory.
struct Place : Range {
  uint64_t address;
};

// The first address from `from` on that is equal to the host address `host` modulo kLine.
uint64_t fitting_address(uint64_t from, uintptr_t host) { return from + (host - from) % kLine; }

StorageBlock* make_block(Device* device, size_t bytes) {
  uint64_t allocation = device->kind->allocate(device, bytes);
  if (allocation == 0) return nullptr;
  return make<StorageBlock>("the list of mapped data", allocation, allocation + bytes, 0u);
}

}  // namespace

bool Storage::is_shared(int32_t items) const { return device_->shares_storage && items >= kManyItems; }

bool Storage::allocate(MapEntry* entry, NewBlocks& blocks) {
  auto* place = static_cast<Place*>(places_.first_overlap(entry->begin, entry->end));
  if (place != nullptr && place->contains(entry->begin, entry->end)) {
    entry->address = place->address + (entry->begin - place->begin);
    return true;
  }
  if (blocks.may_share && entry->bytes() <= kSmall && allocate_in_block(entry, blocks)) return true;
  uintptr_t offset = entry->begin % kLine;
  entry->allocation = device_->kind->allocate(device_, entry->bytes() + offset);
  entry->address = entry->allocation + offset;
  return entry->allocation != 0;
}

// Gives the map entry storage after the one that the construct has created before it. False: the device has no memory
// for a block.
bool Storage::allocate_in_block(MapEntry* entry, NewBlocks& blocks) {
  static_assert(kSmall + kLine <= kFirstBlock);
  if (blocks.block == nullptr || fitting_address(blocks.next, entry->begin) + entry->bytes() > blocks.block->end) {
    size_t last = blocks.block != nullptr ? blocks.block->end - blocks.block->allocation : kFirstBlock / 2;
    StorageBlock* block = make_block(device_, std::min(2 * last, kLargestBlock));
    if (block == nullptr) return false;
    blocks.block = block;
    blocks.next = block->allocation;
  }
  entry->block = blocks.block;
  entry->allocation = blocks.next;
  entry->address = fitting_address(blocks.next, entry->begin);
  blocks.next = entry->address + entry->bytes();
  ++blocks.block->entries;
  return true;
}

void Storage::release(const MapEntry* entry) {
  StorageBlock* block = entry->block;
  if (block == nullptr) {
    if (entry->allocation != 0) device_->kind->release(device_, entry->allocation);
    return;
  }
  if (--block->entries != 0) return;
  device_->kind->release(device_, block->allocation);
  std::free(block);
}

void Storage::add_place(const void* host, size_t bytes, uint64_t address) {
  auto begin = reinterpret_cast<uintptr_t>(host);
  if (bytes == 0 || places_.first_overlap(begin, begin + bytes) != nullptr) return;
  auto* place = make<Place>("the list of mapped data");
  place->begin = begin;
  place->end = begin + bytes;
  place->address = address;
  places_.insert(place);
}

void Storage::remove_place(const void* host) {
  auto begin = reinterpret_cast<uintptr_t>(host);
  Range* place = places_.first_overlap(begin, begin);
  if (place == nullptr || place->begin != begin) return;
  places_.remove(place);
  std::free(place);
}

}  // namespace marline::offload::data
