// SPDX-License-Identifier: Apache-2.0
//
// The window: a range of addresses for the memory of all devices that have an address space of their own. It is the
// same range in every process of a job, and has a part for each device. So the device of a pointer follows by
// arithmetic, and an access by a process that has not mapped the part is a fault at an address that names the device.
#pragma once

#include "base/device_set.hpp"
#include "device/contract/device.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

#ifdef __SANITIZE_THREAD__
// 256 parts of 1 GiB, below the shadow of ThreadSanitizer (GCC 12, tsan_platform.h: the first 512 GiB are the
// program's).
inline constexpr uint64_t kWindow = uint64_t{0x20} << 32;
inline constexpr int kPartShift = 30;
#else
// 256 parts of 128 GiB. They lie clear of the addresses that the loader, malloc and stacks use on Linux, and of
// AddressSanitizer's shadow.
inline constexpr uint64_t kWindow = uint64_t{0x2000} << 32;
inline constexpr int kPartShift = 37;
#endif
inline constexpr uint64_t kPart = uint64_t{1} << kPartShift;
static_assert(kMostDevices == 256);

[[nodiscard]] inline uint64_t part_of(const Device* device) {
  return kWindow + (static_cast<uint64_t>(device->number) << kPartShift);
}

[[nodiscard]] inline bool is_in_part(const Device* device, uint64_t address) {
  return (address - kWindow) >> kPartShift == static_cast<uint64_t>(device->number);
}

}  // namespace marline::offload::device
