// SPDX-License-Identifier: Apache-2.0
// Memory of a device at an address that the program chooses (CUDA Driver API, Virtual Memory Management): a range of
// addresses that is reserved, a block of the device's memory, and the block in the range, as a whole. A block that has
// been mapped stays to the end of the program. Any thread.
#include <sys/mman.h>

#include <algorithm>
#include <mutex>

#include "driver.hpp"

using namespace emulator;

namespace {

// CUmemLocation, and what is looked at of CUmemAllocationProp.
struct Location {
  int type, id;
};
struct AllocationProperties {
  int type, handles;
  Location location;
};

constexpr int kOnDevice = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
constexpr std::size_t kGranularity = std::size_t{2} << 20;

struct Block {
  Device* device;
  std::size_t size;
  bool is_mapped;
};

std::mutex blocks_mutex;
std::vector<Block> blocks;  // handle h is entry h - 1; with the mutex

Device* device_of(const AllocationProperties* properties) {
  const bool is_device = driver() != nullptr && properties->location.type == kOnDevice;
  return is_device ? driver()->device(properties->location.id) : nullptr;
}

// What the program has allocated and created, in bytes.
std::size_t taken(Device& device) {
  std::size_t all = device.memory.used();
  for (const Block& block : blocks) {
    all += block.device == &device ? block.size : 0;
  }
  return all;
}

}  // namespace

EMULATOR_ENTRY cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties* properties, int) {
  if (device_of(properties) == nullptr) {
    return log_call("cuMemGetAllocationGranularity", kInvalidDevice);
  }
  *bytes = kGranularity;
  return log_call("cuMemGetAllocationGranularity", kSuccess);
}

// The wish is followed if nothing is there.
EMULATOR_ENTRY cuMemAddressReserve(DevicePointer* address, std::size_t size, std::size_t, DevicePointer wish,
                                   unsigned long long) {
  if (size == 0 || size % kGranularity != 0) {
    return log_call("cuMemAddressReserve", kInvalidValue, "%zu bytes", size);
  }
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* found = MAP_FAILED;
  if (wish != 0 && settings().addresses) {
    found = mmap(reinterpret_cast<void*>(wish), size, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
  }
  if (found == MAP_FAILED) {
    found = mmap(nullptr, size, PROT_NONE, kFlags, -1, 0);
  }
  *address = reinterpret_cast<DevicePointer>(found);
  return log_call("cuMemAddressReserve", found != MAP_FAILED ? kSuccess : kOutOfMemory, "%zu bytes at %p", size, found);
}

EMULATOR_ENTRY cuMemAddressFree(DevicePointer address, std::size_t size) {
  return log_call("cuMemAddressFree", munmap(reinterpret_cast<void*>(address), size) == 0 ? kSuccess : kInvalidValue);
}

EMULATOR_ENTRY cuMemCreate(std::uint64_t* handle, std::size_t size, const AllocationProperties* properties,
                           unsigned long long) {
  Device* device = device_of(properties);
  if (device == nullptr || size == 0 || size % kGranularity != 0) {
    return log_call("cuMemCreate", kInvalidValue, "%zu bytes", size);
  }
  const std::lock_guard lock(blocks_mutex);
  if (size > device->memory.size() - std::min(device->memory.size(), taken(*device))) {
    return log_call("cuMemCreate", kOutOfMemory, "%zu bytes", size);
  }
  blocks.push_back({device, size, false});
  *handle = blocks.size();
  return log_call("cuMemCreate", kSuccess, "%zu bytes", size);
}

// In the range's place comes the device's memory, which the host cannot touch either.
EMULATOR_ENTRY cuMemMap(DevicePointer address, std::size_t size, std::size_t offset, std::uint64_t handle,
                        unsigned long long) {
  const std::lock_guard lock(blocks_mutex);
  if (handle == 0 || handle > blocks.size() || offset != 0 || size != blocks[handle - 1].size ||
      munmap(reinterpret_cast<void*>(address), size) != 0) {
    return log_call("cuMemMap", kInvalidValue, "%zu bytes", size);
  }
  Device& device = *blocks[handle - 1].device;
  blocks[handle - 1].is_mapped = true;
  auto memory = std::make_unique<Memory>(address, size, Memory::HostAccess::kNone);
  bool there = memory->allocate(size) == address;
  there = there && (!device.process.started() || device.process.map(address, size, memory->file()));
  const std::lock_guard mapped_lock(device.mapped_mutex);
  device.mapped.push_back(std::move(memory));
  return log_call("cuMemMap", there ? kSuccess : kUnknown, "%zu bytes at 0x%llx", size,
                  static_cast<unsigned long long>(address));
}

EMULATOR_ENTRY cuMemSetAccess(DevicePointer address, std::size_t size, const void*, std::size_t) {
  return log_call("cuMemSetAccess", find_place(address, size).device != nullptr ? kSuccess : kInvalidValue);
}

EMULATOR_ENTRY cuMemUnmap(DevicePointer, std::size_t) { return log_call("cuMemUnmap", kNotSupported); }

// The handle counts for nothing any more. What it has mapped keeps its memory.
EMULATOR_ENTRY cuMemRelease(std::uint64_t handle) {
  const std::lock_guard lock(blocks_mutex);
  const bool known = handle != 0 && handle <= blocks.size() && blocks[handle - 1].size != 0;
  if (known && !blocks[handle - 1].is_mapped) {
    blocks[handle - 1].size = 0;
  }
  return log_call("cuMemRelease", known ? kSuccess : kInvalidValue);
}
