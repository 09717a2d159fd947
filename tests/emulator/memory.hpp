// SPDX-License-Identifier: Apache-2.0
// The memory of one emulated device, or the memory that the host and all devices share.
//
// A Memory is a file without a name (memfd) and one range of addresses. The file is mapped at that range where the
// range's owner runs: in the device's process for a device, everywhere for shared memory. In the program's process a
// device's range is reserved without access, so that a host access to it faults as it would with a real device; the
// driver itself reaches the bytes through a second mapping (`host_view`), which it keeps to itself.
//
// Any thread may call any function; one lock per Memory. Invariant: used and free blocks alternate without overlap and
// neighbouring free blocks are joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda.hpp"

namespace emulator {

// Device d has the addresses from kDeviceBase + d * kDeviceStride; shared memory has the addresses from kSharedBase.
constexpr DevicePointer kDeviceBase = 0x3000'0000'0000;
constexpr DevicePointer kDeviceStride = 0x100'0000'0000;
constexpr DevicePointer kSharedBase = 0x2f00'0000'0000;
constexpr std::size_t kAlignment = 512;
constexpr std::size_t kPage = 4096;

class Memory {
 public:
  enum class HostAccess { kNone, kFull };

  // Reserves the range; ends the process with a line if the addresses are taken.
  Memory(DevicePointer base, std::size_t size, HostAccess access);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // 0 if no free block is large enough.
  DevicePointer allocate(std::size_t size, std::size_t alignment = kAlignment);
  // False if no block starts at `address`.
  [[nodiscard]] bool release(DevicePointer address);
  struct Block {
    DevicePointer start = 0;
    std::size_t size = 0;  // as asked for
  };
  // The last block in use that begins at or before `address`; of no bytes if there is none.
  Block block_before(DevicePointer address) const;
  // Whether all of [address, address + size) lies in one block that is in use.
  bool holds(DevicePointer address, std::size_t size) const;
  bool covers(DevicePointer address) const { return address >= base_ && address < base_ + size_; }
  std::byte* host_view(DevicePointer address) const { return view_ + (address - base_); }

  DevicePointer base() const { return base_; }
  std::size_t size() const { return size_; }
  std::size_t used() const;
  int file() const { return file_; }

 private:
  void give_pages_back(DevicePointer address, std::size_t size) const;

  const DevicePointer base_;
  const std::size_t size_;
  int file_ = -1;
  std::byte* view_ = nullptr;
  mutable std::mutex mutex_;
  std::size_t used_bytes_ = 0;
  std::map<DevicePointer, std::size_t> free_;
  std::map<DevicePointer, std::size_t> used_;
};

}  // namespace emulator
