// SPDX-License-Identifier: Apache-2.0
// The driver's functions about memory: allocation, copies and fills. A device's memory is checked to be in use over the
// whole length of a copy; host memory is only checked not to be a device's. Any thread.
#include <algorithm>

#include "driver.hpp"

using namespace emulator;

namespace {

Result allocate(const char* name, DevicePointer* address, std::size_t size) {
  Device* device = current_device();
  DevicePointer found = 0;
  Result result = device == nullptr ? kInvalidContext : size == 0 ? kInvalidValue : device->error.load();
  if (result == kSuccess) {
    found = strikes(Fault::kAlloc, *device) ? 0 : device->memory.allocate(size);
    result = found != 0 ? kSuccess : kOutOfMemory;
    *address = found;
  }
  return log_call(name, result, "%zu bytes at 0x%llx", size, static_cast<unsigned long long>(found));
}

Result allocate_shared(const char* name, void** address, std::size_t size) {
  const DevicePointer found = driver() != nullptr ? driver()->shared.allocate(size) : 0;
  *address = reinterpret_cast<void*>(found);
  return log_call(name, found != 0 ? kSuccess : kOutOfMemory, "%zu bytes at %p", size, *address);
}

bool is_on_a_device(const void* address) {
  for (const auto& device : driver()->devices) {
    if (device->memory_at(reinterpret_cast<DevicePointer>(address)) != nullptr) {
      return true;
    }
  }
  return false;
}

// The checks and the submission of every copy. A copy of nothing is allowed and does nothing.
Result copy(Stream* stream, Copy work) {
  Result result = check(stream);
  if (result != kSuccess || work.bytes == 0) {
    return result;
  }
  if (work.to == nullptr || work.from == nullptr) {
    return kInvalidValue;
  }
  return strikes(Fault::kCopy, stream->device) ? kUnknown : submit(stream, std::move(work));
}

Result and_wait(Stream* stream, Result result) {
  if (result != kSuccess) {
    return result;
  }
  driver()->engine.synchronize(*stream);
  return stream->device.error.load();
}

// Pageable memory is all that the driver has not allocated.
bool is_pageable(const void* address) { return !driver()->shared.covers(reinterpret_cast<DevicePointer>(address)); }

// CUDA promises that the source in pageable memory may change when the call returns, and libomptarget relies on it.
// A real driver copies a small source to memory of its own, and waits for a large one.
Result copy_to_device(Stream* stream, DevicePointer to, const void* from, std::size_t bytes) {
  constexpr std::size_t kStagedAtMost = std::size_t{64} << 10;
  const Result result = check(stream);
  if (result != kSuccess) {
    return result;
  }
  const auto* source = is_on_a_device(from) ? nullptr : static_cast<const std::byte*>(from);
  Copy work = {Copy::Way::kToDevice, find_place(to, bytes).view, source, bytes, nullptr, nullptr};
  const bool pageable = source != nullptr && is_pageable(source);
  if (pageable && settings().pageable_waits && bytes > kStagedAtMost) {
    return and_wait(stream, copy(stream, std::move(work)));
  }
  if (pageable && work.to != nullptr && bytes != 0 && bytes <= settings().model_above) {
    work.staged = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::copy_n(source, bytes, work.staged.get());
    work.from = work.staged.get();
  }
  return copy(stream, std::move(work));
}

Result copy_to_host(Stream* stream, void* to, DevicePointer from, std::size_t bytes) {
  const Result result = check(stream);
  if (result != kSuccess) {
    return result;
  }
  auto* target = is_on_a_device(to) ? nullptr : static_cast<std::byte*>(to);
  Copy work = {Copy::Way::kToHost, target, find_place(from, bytes).view, bytes, nullptr, nullptr};
  const bool waits = settings().pageable_waits && target != nullptr && is_pageable(target);
  const Result submitted = copy(stream, std::move(work));
  return waits ? and_wait(stream, submitted) : submitted;
}

Result copy_on_devices(Stream* stream, DevicePointer to, DevicePointer from, std::size_t bytes) {
  const Result result = check(stream);
  if (result != kSuccess) {
    return result;
  }
  const Place target = find_place(to, bytes);
  const Place source = find_place(from, bytes);
  const bool between = target.device != nullptr && source.device != nullptr && target.device != source.device;
  return copy(stream, {between ? Copy::Way::kToPeer : Copy::Way::kInside, target.view, source.view, bytes,
                       target.device, nullptr});
}

Result fill(const char* name, Stream* stream, DevicePointer to, Fill work) {
  stream = stream_or_default(stream);
  Result result = check(stream);
  const std::size_t row = work.columns * work.width;
  if (result == kSuccess && work.columns != 0 && work.rows != 0) {
    work.pitch = work.rows == 1 ? row : work.pitch;
    work.to = work.pitch >= row ? find_place(to, (work.rows - 1) * work.pitch + row).view : nullptr;
    result = work.to != nullptr ? submit(stream, work) : kInvalidValue;
  }
  return log_call(name, result, "%zu x %zu bytes at 0x%llx", work.rows, row, static_cast<unsigned long long>(to));
}

}  // namespace

EMULATOR_ENTRY cuMemAlloc_v2(DevicePointer* address, std::size_t size) { return allocate("cuMemAlloc", address, size); }
EMULATOR_ALIAS(cuMemAlloc);

EMULATOR_ENTRY cuMemAllocAsync(DevicePointer* address, std::size_t size, Stream*) {
  return allocate("cuMemAllocAsync", address, size);
}

// Waits for all that the device has to do, as the real one does.
EMULATOR_ENTRY cuMemFree_v2(DevicePointer address) {
  Result result = driver() == nullptr ? kNotInitialized : kSuccess;
  if (address != 0 && result == kSuccess) {
    const Place place = find_place(address, 1);
    if (place.device != nullptr) {
      driver()->engine.synchronize(*place.device);
      result = place.device->memory.release(address) ? kSuccess : kInvalidValue;
    } else {
      result = driver()->shared.release(address) ? kSuccess : kInvalidValue;
    }
  }
  return log_call("cuMemFree", result, "0x%llx", static_cast<unsigned long long>(address));
}
EMULATOR_ALIAS(cuMemFree);

EMULATOR_ENTRY cuMemFreeAsync(DevicePointer address, Stream* stream) {
  stream = stream_or_default(stream);
  Result result = check(stream);
  if (result == kSuccess) {
    const Place place = find_place(address, 1);
    result = place.device == &stream->device ? submit(stream, Release{address}) : kInvalidValue;
  }
  return log_call("cuMemFreeAsync", result, "0x%llx", static_cast<unsigned long long>(address));
}

EMULATOR_ENTRY cuMemAllocHost_v2(void** address, std::size_t size) {
  return allocate_shared("cuMemAllocHost", address, size);
}
EMULATOR_ALIAS(cuMemAllocHost);

EMULATOR_ENTRY cuMemAllocManaged(DevicePointer* address, std::size_t size, unsigned) {
  return allocate_shared("cuMemAllocManaged", reinterpret_cast<void**>(address), size);
}

EMULATOR_ENTRY cuMemFreeHost(void* address) {
  const bool freed = driver() != nullptr && driver()->shared.release(reinterpret_cast<DevicePointer>(address));
  return log_call("cuMemFreeHost", freed ? kSuccess : kInvalidValue, "%p", address);
}

EMULATOR_ENTRY cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  Device* device = current_device();
  if (device == nullptr) {
    return kInvalidContext;
  }
  *total = device->memory.size();
  *free_bytes = *total - device->memory.used();
  return kSuccess;
}
EMULATOR_ALIAS(cuMemGetInfo);

// Managed memory is the host's and all devices': there is nothing to move.
EMULATOR_ENTRY cuMemPrefetchAsync(DevicePointer address, std::size_t bytes, int, Stream* stream) {
  Result result = check(stream_or_default(stream));
  if (result == kSuccess && !driver()->shared.holds(address, bytes)) {
    result = kInvalidValue;
  }
  return log_call("cuMemPrefetchAsync", result, "%zu bytes at 0x%llx", bytes, static_cast<unsigned long long>(address));
}

// Of the attributes that libmarline-target and LLVM's libraries ask for: the context, the type of the memory and its
// device, the allocation's range. Memory that has been mapped at an address has no context, as with the real driver.
EMULATOR_ENTRY cuPointerGetAttribute(void* data, int attribute, DevicePointer address) {
  constexpr int kContext = 1, kType = 2, kOrdinal = 9, kRangeStart = 11, kRangeSize = 12;
  constexpr unsigned kHostMemory = 1, kDeviceMemory = 2;
  const Place place = driver() != nullptr ? find_place(address, 1) : Place{};
  const bool has_device = place.device != nullptr && (attribute == kContext || attribute == kOrdinal);
  const bool is_of_any = attribute == kType || attribute == kRangeStart || attribute == kRangeSize;
  const bool known = place.view != nullptr && (is_of_any || has_device);
  if (known && attribute == kContext) {
    *static_cast<Device**>(data) = place.device->memory.covers(address) ? place.device : nullptr;
  } else if (known && attribute == kOrdinal) {
    *static_cast<int*>(data) = place.device->index;
  } else if (known && attribute == kRangeStart) {
    *static_cast<DevicePointer*>(data) = place.memory->block_before(address).start;
  } else if (known && attribute == kRangeSize) {
    *static_cast<std::size_t*>(data) = place.memory->block_before(address).size;
  } else if (known) {
    *static_cast<unsigned*>(data) = place.device != nullptr ? kDeviceMemory : kHostMemory;
  }
  return log_call("cuPointerGetAttribute", known ? kSuccess : kInvalidValue, "%d of 0x%llx", attribute,
                  static_cast<unsigned long long>(address));
}

// Attributes that the memory does not have are null, also if the address is none of the driver's.
EMULATOR_ENTRY cuPointerGetAttributes(unsigned count, const int* attributes, void** data, DevicePointer address) {
  constexpr int kContext = 1, kType = 2, kManaged = 8, kOrdinal = 9, kRangeStart = 11, kRangeSize = 12;
  for (unsigned i = 0; i < count; i++) {
    const int attribute = attributes[i];
    const bool is_word = attribute == kType || attribute == kManaged || attribute == kOrdinal;
    if (!is_word && attribute != kContext && attribute != kRangeStart && attribute != kRangeSize) {
      return log_call("cuPointerGetAttributes", kInvalidValue, "%d", attribute);
    }
    std::fill_n(static_cast<std::byte*>(data[i]), is_word ? sizeof(int) : sizeof(void*), std::byte{0});
    (void)cuPointerGetAttribute(data[i], attribute, address);
  }
  return log_call("cuPointerGetAttributes", kSuccess, "%u of 0x%llx", count, static_cast<unsigned long long>(address));
}

EMULATOR_ENTRY cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, Stream* stream) {
  return log_call("cuMemcpyHtoDAsync", copy_to_device(stream_or_default(stream), to, from, bytes),
                  "%zu bytes to 0x%llx", bytes, static_cast<unsigned long long>(to));
}
EMULATOR_ALIAS(cuMemcpyHtoDAsync);

EMULATOR_ENTRY cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, Stream* stream) {
  return log_call("cuMemcpyDtoHAsync", copy_to_host(stream_or_default(stream), to, from, bytes),
                  "%zu bytes from 0x%llx", bytes, static_cast<unsigned long long>(from));
}
EMULATOR_ALIAS(cuMemcpyDtoHAsync);

EMULATOR_ENTRY cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, Stream* stream) {
  return log_call("cuMemcpyDtoDAsync", copy_on_devices(stream_or_default(stream), to, from, bytes),
                  "%zu bytes from 0x%llx", bytes, static_cast<unsigned long long>(from));
}
EMULATOR_ALIAS(cuMemcpyDtoDAsync);

// The addresses say where the memory is. Both may be the host's only if the driver has allocated them.
EMULATOR_ENTRY cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes, Stream* stream) {
  stream = stream_or_default(stream);
  Result result = check(stream);
  if (result == kSuccess && find_place(from, bytes).view == nullptr) {
    result = copy_to_device(stream, to, reinterpret_cast<const void*>(from), bytes);
  } else if (result == kSuccess && find_place(to, bytes).view == nullptr) {
    result = copy_to_host(stream, reinterpret_cast<void*>(to), from, bytes);
  } else if (result == kSuccess) {
    result = copy_on_devices(stream, to, from, bytes);
  }
  return log_call("cuMemcpyAsync", result, "%zu bytes from 0x%llx", bytes, static_cast<unsigned long long>(from));
}

EMULATOR_ENTRY cuMemcpyPeerAsync(DevicePointer to, Device*, DevicePointer from, Device*, std::size_t bytes,
                                 Stream* stream) {
  return log_call("cuMemcpyPeerAsync", copy_on_devices(stream_or_default(stream), to, from, bytes),
                  "%zu bytes from 0x%llx", bytes, static_cast<unsigned long long>(from));
}

EMULATOR_ENTRY cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  Stream* stream = stream_or_default(nullptr);
  return log_call("cuMemcpyHtoD", and_wait(stream, copy_to_device(stream, to, from, bytes)), "%zu bytes", bytes);
}
EMULATOR_ALIAS(cuMemcpyHtoD);

EMULATOR_ENTRY cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  Stream* stream = stream_or_default(nullptr);
  return log_call("cuMemcpyDtoH", and_wait(stream, copy_to_host(stream, to, from, bytes)), "%zu bytes", bytes);
}
EMULATOR_ALIAS(cuMemcpyDtoH);

EMULATOR_ENTRY cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, Stream* stream) {
  return fill("cuMemsetD8Async", stream, to, {nullptr, value, 1, count, 1, 0});
}

EMULATOR_ENTRY cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, Stream* stream) {
  return fill("cuMemsetD16Async", stream, to, {nullptr, value, 2, count, 1, 0});
}

EMULATOR_ENTRY cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, Stream* stream) {
  return fill("cuMemsetD32Async", stream, to, {nullptr, value, 4, count, 1, 0});
}

EMULATOR_ENTRY cuMemsetD2D8Async(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,
                                 std::size_t height, Stream* stream) {
  return fill("cuMemsetD2D8Async", stream, to, {nullptr, value, 1, width, height, pitch});
}

EMULATOR_ENTRY cuMemsetD2D16Async(DevicePointer to, std::size_t pitch, unsigned short value, std::size_t width,
                                  std::size_t height, Stream* stream) {
  return fill("cuMemsetD2D16Async", stream, to, {nullptr, value, 2, width, height, pitch});
}

EMULATOR_ENTRY cuMemsetD2D32Async(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,
                                  std::size_t height, Stream* stream) {
  return fill("cuMemsetD2D32Async", stream, to, {nullptr, value, 4, width, height, pitch});
}
