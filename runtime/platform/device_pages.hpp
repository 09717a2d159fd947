// SPDX-License-Identifier: Apache-2.0
//
// Pinned memory from the library that has the devices: host memory that devices copy from and to directly. mlock alone
// does not make memory accessible to devices. Any thread.
#pragma once

#include <cstddef>

namespace marline {

// allocate: null if no device has such memory. Blocks begin at a page.
struct DevicePages {
  void* (*allocate)(size_t bytes);
  void (*release)(void* pages);
};

// Called once by that library, when it is loaded. The structure must stay.
void set_device_pages(const DevicePages* pages);

// Null: no device has pinned memory, and the caller pins pages of the system.
[[nodiscard]] char* device_pages_allocate(size_t bytes, size_t alignment);
void device_pages_release(void* pages);

}  // namespace marline
