// SPDX-License-Identifier: Apache-2.0
//
// Copies of large blocks to memory of the program that has not been read lately. Any thread.
#pragma once

#include <cstddef>

namespace marline::offload {

// Copies like memcpy. The bytes are a part of a copy of `whole` bytes. If `whole` is more than the caches of a core
// hold, the stores bypass the caches where the processor has instructions for that, as in NVIDIA's driver: memcpy would
// read each line of `to` first.
void copy_streamed(char* to, const char* from, size_t bytes, size_t whole);

}  // namespace marline::offload
