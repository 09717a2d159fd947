// SPDX-License-Identifier: Apache-2.0
//
// Calls a kernel of this processor: each parameter is a word of the class INTEGER (the System V x86-64 and AArch64
// procedure calls), and words beyond those that a function has do no harm, as its caller takes them off the stack.
#pragma once

#include "device/contract/device.hpp"
#include "image/images.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

inline constexpr uint32_t kMostArguments = 512;

// Beside a kernel's address: it gets an array of pointers to its words (Entry::by_pointers). No address has this bit.
inline constexpr uint64_t kByPointers = uint64_t{1} << 63;

[[nodiscard]] inline bool is_by_pointers(const Launch& launch) {
  return launch.kernel->by_pointers.load(std::memory_order_relaxed);
}

// Where the device has the kernel, and how it is called.
[[nodiscard]] inline uint64_t code_to_call(const Launch& launch) {
  return launch.code | (is_by_pointers(launch) ? kByPointers : 0);
}

// `code`: of code_to_call. `count` <= kMostArguments.
void call_kernel(uint64_t code, const uint64_t* words, uint32_t count);

}  // namespace marline::offload::device
