// SPDX-License-Identifier: Apache-2.0
//
// Calls the functions that the library with the devices has registered.
#include "platform/device_pages.hpp"

#include "base/atomic.hpp"

#include <cstdint>

namespace marline {

namespace {

Atomic<const DevicePages*> g_pages{nullptr};  // set once, by the library's constructor

}  // namespace

void set_device_pages(const DevicePages* pages) { g_pages.store(pages, release); }  // pairs with the loads

char* device_pages_allocate(size_t bytes, size_t alignment) {
  const DevicePages* pages = g_pages.load(acquire);  // pairs with the store
  if (pages == nullptr) return nullptr;
  void* found = pages->allocate(bytes);
  if (found == nullptr || (reinterpret_cast<uintptr_t>(found) & (alignment - 1)) == 0) return static_cast<char*>(found);
  pages->release(found);
  return nullptr;
}

void device_pages_release(void* pages) { g_pages.load(acquire)->release(pages); }  // pairs with the store

}  // namespace marline
