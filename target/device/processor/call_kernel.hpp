// SPDX-License-Identifier: Apache-2.0
//
// Calls a kernel of this processor: each parameter is a word of the class INTEGER (the System V x86-64 and AArch64
// procedure calls), and words beyond those that a function has do no harm, as its caller takes them off the stack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::target {

inline constexpr uint32_t kMostArguments = 512;

// `count` <= kMostArguments.
void call_kernel(uint64_t code, const uint64_t* words, uint32_t count);

}  // namespace marline::target
