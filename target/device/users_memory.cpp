// SPDX-License-Identifier: Apache-2.0
//
// See the header. One tree for each device, as two devices may have memory at the same address.
#include "device/users_memory.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "image/images.hpp"
#include "base/ranges.hpp"

#include <cstdlib>

namespace marline::target {

namespace {

Lock g_lock;  // over all trees: these routines are rare
Ranges g_blocks[kMaxImageDevices];

Range* block_at(Device* device, uint64_t address) {
  Range* block = g_blocks[device->number].first_overlap(address, address + 1);
  return block != nullptr && block->begin == address ? block : nullptr;
}

}  // namespace

void note_users_block(Device* device, uint64_t address, size_t bytes) {
  auto* block = static_cast<Range*>(std::malloc(sizeof(Range)));
  if (block == nullptr) fatal("no memory for the list of omp_target_alloc's blocks");
  block->begin = address;
  block->end = address + bytes;
  Guard guard(g_lock);
  g_blocks[device->number].insert(block);
}

bool is_users_block(Device* device, uint64_t address) {
  Guard guard(g_lock);
  return block_at(device, address) != nullptr;
}

void forget_users_block(Device* device, uint64_t address) {
  Guard guard(g_lock);
  Range* block = block_at(device, address);
  if (block == nullptr) return;
  g_blocks[device->number].remove(block);
  std::free(block);
}

}  // namespace marline::target
