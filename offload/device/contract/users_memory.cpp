// SPDX-License-Identifier: Apache-2.0
//
// Keeps one tree of blocks for each device, because two devices may have memory at the same address.
#include "device/contract/users_memory.hpp"

#include "base/make.hpp"
#include "base/forks.hpp"
#include "base/ranges.hpp"
#include "base/report.hpp"
#include "image/images.hpp"

#include <cstdlib>

namespace marline::offload::device {

namespace {

struct Block : Range {
  uint32_t associations;
};

Lock g_lock;                    // protects all trees; one lock is enough, because these routines are called rarely
Ranges g_blocks[kMostDevices];  // as many as blocks that the program has allocated
const HeldAcrossForks g_held(g_lock, ForkOrder::kUsersMemory);

// The block that contains the byte at the address, or null.
Block* block_around(Device* device, uint64_t address) {
  return static_cast<Block*>(g_blocks[device->number].first_overlap(address, address + 1));
}

}  // namespace

void note_users_block(Device* device, uint64_t address, size_t bytes) {
  auto* block = make<Block>("the list of omp_target_alloc's blocks");
  block->begin = address;
  block->end = address + bytes;
  block->associations = 0;
  Guard guard(g_lock);
  g_blocks[device->number].insert(block);
}

void count_association(Device* device, uint64_t address) {
  Guard guard(g_lock);
  if (Block* block = block_around(device, address)) ++block->associations;
}

void discount_association(Device* device, uint64_t address) {
  Guard guard(g_lock);
  if (Block* block = block_around(device, address)) --block->associations;
}

Forgotten forget_users_block(Device* device, uint64_t address) {
  Guard guard(g_lock);
  Block* block = block_around(device, address);
  if (block == nullptr || block->begin != address) return Forgotten::kNoBlock;
  if (block->associations != 0) return Forgotten::kAssociated;
  g_blocks[device->number].remove(block);
  std::free(block);
  return Forgotten::kYes;
}

}  // namespace marline::offload::device
