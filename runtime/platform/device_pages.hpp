// SPDX-License-Identifier: Apache-2.0
//
// Pinned memory of the library that has the devices: memory of the host that devices copy from and to directly, which
// mlock alone does not make of it. Any thread.
#pragma once

#include <cstddef>

namespace marline {

// allocate: null if no device has such memory. Blocks begin on a page.
struct DevicePages {
  void* (*allocate)(size_t bytes);
  void (*release)(void* pages);
};

// By that library, once, when it is loaded. The structure stays.
void set_device_pages(const DevicePages* pages);

// Null: there are none, and the system's own pages must do.
[[nodiscard]] char* device_pages_allocate(size_t bytes, size_t alignment);
void device_pages_release(void* pages);

}  // namespace marline
