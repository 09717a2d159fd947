// SPDX-License-Identifier: Apache-2.0
//
// Keeps the records of the blocks in a tree by address, outside of the blocks, because is_pinned is called for each
// mapped variable.
#include "device/libomptarget/staging/pinned.hpp"

#include "base/make.hpp"
#include "base/lock.hpp"
#include "base/ranges.hpp"
#include "base/report.hpp"
#include "device/libomptarget/library.hpp"

#include <cstdlib>

namespace marline::offload::device {

namespace {

struct Block : Range {
  Device* device;
};

Lock g_lock;  // held for one search
Ranges g_blocks;

}  // namespace

void* allocate_pinned(Device* device, size_t bytes) {
  using Allocate = void* (*)(size_t, int);
  if (bytes == 0) return nullptr;
  void* memory = reinterpret_cast<Allocate>(llvm_routine("llvm_omp_target_alloc_host"))(bytes, llvm_number(device));
  if (memory == nullptr) return nullptr;
  auto* block = make<Block>("the list of pinned blocks");
  block->begin = reinterpret_cast<uintptr_t>(memory);
  block->end = block->begin + bytes;
  block->device = device;
  Guard guard(g_lock);
  g_blocks.insert(block);
  return memory;
}

bool release_pinned(void* memory) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  Block* block;
  {
    Guard guard(g_lock);
    block = static_cast<Block*>(g_blocks.first_overlap(address, address + 1));
    if (block == nullptr || block->begin != address) return false;
    g_blocks.remove(block);
  }
  reinterpret_cast<void (*)(void*, int)>(llvm_routine("llvm_omp_target_free_host"))(memory, llvm_number(block->device));
  std::free(block);
  return true;
}

bool is_pinned(const void* memory, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  Guard guard(g_lock);
  Range* block = g_blocks.first_overlap(address, address + bytes);
  return block != nullptr && block->begin <= address && address + bytes <= block->end;
}

}  // namespace marline::offload::device
