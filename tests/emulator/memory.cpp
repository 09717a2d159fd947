// SPDX-License-Identifier: Apache-2.0
// Allocation in a device's memory: first fit over a map of free blocks. A block takes a multiple of the alignment, so
// that addresses stay aligned, but only the bytes that were asked for may be used. The lock of a Memory guards its two
// maps.
#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "settings.hpp"

namespace emulator {
namespace {

// Blocks of at least this size give their pages back when they are freed.
constexpr std::size_t kGiveBackFrom = std::size_t{1} << 20;

std::size_t round_up(std::size_t size, std::size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

Memory::Memory(DevicePointer base, std::size_t size, HostAccess access) : base_(base), size_(round_up(size, kPage)) {
  file_ = memfd_create("marline-emulator-memory", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size_)) != 0) {
    fatal("cannot make device memory of %zu bytes (%s): lower MARLINE_EMULATOR_MEMORY", size_, std::strerror(errno));
  }
  const bool full = access == HostAccess::kFull;
  void* range = mmap(reinterpret_cast<void*>(base_), size_, full ? PROT_READ | PROT_WRITE : PROT_NONE,
                     (full ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
                     full ? file_ : -1, 0);
  void* view = full ? range : mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (range != reinterpret_cast<void*>(base_) || view == MAP_FAILED) {
    fatal("cannot map device memory of %zu bytes at 0x%llx (%s): lower MARLINE_EMULATOR_MEMORY, and raise `ulimit -v`",
          size_, static_cast<unsigned long long>(base_), std::strerror(errno));
  }
  view_ = static_cast<std::byte*>(view);
  free_[base_] = size_;
}

DevicePointer Memory::allocate(std::size_t size, std::size_t alignment) {
  if (size == 0 || size > size_) {
    return 0;
  }
  const std::size_t asked = size;
  size = round_up(size, kAlignment);
  const std::lock_guard lock(mutex_);
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    const auto [start, length] = *block;
    const DevicePointer address = round_up(start, alignment);
    const std::size_t skipped = address - start;
    if (length < skipped || length - skipped < size) {
      continue;
    }
    free_.erase(block);
    if (skipped != 0) {
      free_[start] = skipped;
    }
    if (length - skipped != size) {
      free_[address + size] = length - skipped - size;
    }
    used_[address] = asked;
    used_bytes_ += size;
    return address;
  }
  return 0;
}

bool Memory::release(DevicePointer address) {
  const std::lock_guard lock(mutex_);
  const auto block = used_.find(address);
  if (block == used_.end()) {
    return false;
  }
  std::size_t size = round_up(block->second, kAlignment);
  used_.erase(block);
  used_bytes_ -= size;
  give_pages_back(address, size);
  auto after = free_.lower_bound(address);
  if (after != free_.end() && after->first == address + size) {
    size += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    if (const auto before = std::prev(after); before->first + before->second == address) {
      before->second += size;
      return true;
    }
  }
  free_[address] = size;
  return true;
}

Memory::Block Memory::block_before(DevicePointer address) const {
  const std::lock_guard lock(mutex_);
  auto block = used_.upper_bound(address);
  if (block == used_.begin()) {
    return {};
  }
  --block;
  return {block->first, block->second};
}

bool Memory::holds(DevicePointer address, std::size_t size) const {
  if (!covers(address)) {
    return false;
  }
  const Block block = block_before(address);
  const std::size_t offset = address - block.start;
  return block.size != 0 && offset <= block.size && size <= block.size - offset;
}

std::size_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

void Memory::give_pages_back(DevicePointer address, std::size_t size) const {
  const std::size_t first = round_up(address - base_, kPage);
  const std::size_t last = (address - base_ + size) / kPage * kPage;
  if (size < kGiveBackFrom || first >= last) {
    return;
  }
  // Without hole punching the pages merely stay: the block is free either way.
  (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
                  static_cast<off_t>(last - first));
}

}  // namespace emulator
