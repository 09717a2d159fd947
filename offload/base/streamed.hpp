// SPDX-License-Identifier: Apache-2.0
//
// Copies of large blocks to memory of the program that has not been read lately. Any thread.
#pragma once

#include <cstddef>

namespace marline::offload {

// As memcpy, of a piece of a copy of `whole` bytes. If that is more than caches of a core hold, the bytes go past them,
// where the processor has instructions for it, as NVIDIA's driver does it: memcpy reads each line of `to` first.
void copy_streamed(char* to, const char* from, size_t bytes, size_t whole);

}  // namespace marline::offload
