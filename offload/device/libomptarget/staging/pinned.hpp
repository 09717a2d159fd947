// SPDX-License-Identifier: Apache-2.0
//
// Allocates pinned host memory through libomptarget's plugins. Devices copy from and to it while the caller continues.
// The blocks are recorded here by address. Any thread may call these functions.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

// `device` is a device of libomptarget, and ready. Null: the device cannot allocate pinned memory.
[[nodiscard]] void* allocate_pinned(Device* device, size_t bytes);

// False: no block of allocate_pinned begins at the address, and nothing is done.
bool release_pinned(void* memory);

// Whether all bytes lie in one block of allocate_pinned.
[[nodiscard]] bool is_pinned(const void* memory, size_t bytes);

}  // namespace marline::offload::device
