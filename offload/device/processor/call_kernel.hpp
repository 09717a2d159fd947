// SPDX-License-Identifier: Apache-2.0
//
// Calls a kernel on this processor. Each parameter is a word of the class INTEGER (System V x86-64 and AArch64
// procedure calls). A call may pass more words than the function has parameters, as the caller removes them from the
// stack.
#pragma once

#include "device/contract/device.hpp"
#include "image/images.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

inline constexpr uint32_t kMostArguments = 512;

// A flag next to a kernel's address: the kernel gets an array of pointers to its words (Entry::by_pointers). No address
// has this bit.
inline constexpr uint64_t kByPointers = uint64_t{1} << 63;

[[nodiscard]] inline bool is_by_pointers(const Launch& launch) {
  return launch.kernel->by_pointers.load(std::memory_order_relaxed);
}

// The kernel's address on the device, with kByPointers if it is called that way.
[[nodiscard]] inline uint64_t code_to_call(const Launch& launch) {
  return launch.code | (is_by_pointers(launch) ? kByPointers : 0);
}

// `code`: a result of code_to_call. `count` <= kMostArguments.
void call_kernel(uint64_t code, const uint64_t* words, uint32_t count);

}  // namespace marline::offload::device
