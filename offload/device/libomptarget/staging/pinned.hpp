// SPDX-License-Identifier: Apache-2.0
//
// Pinned memory of the host, as libomptarget's plugins give it: devices copy from and to it while the caller goes on.
// What is pinned so is known here by address. Any thread.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

// `device`: of libomptarget, and ready. Null: it gives no such memory.
[[nodiscard]] void* allocate_pinned(Device* device, size_t bytes);

// False: no block of allocate_pinned begins there, and nothing has been done.
bool release_pinned(void* memory);

// Whether all bytes lie in one such block.
[[nodiscard]] bool is_pinned(const void* memory, size_t bytes);

}  // namespace marline::offload::device
