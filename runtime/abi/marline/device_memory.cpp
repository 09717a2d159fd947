// SPDX-License-Identifier: Apache-2.0
//
// The entry points of include/marline/device_memory.h through which a library that wraps MPI learns of the devices'
// memory. Any thread.
#include "marline/device_memory.h"

#include "base/atomic.hpp"

#define MARLINE_EXPORT extern "C" [[gnu::visibility("default")]]

namespace marline {

namespace {

// Written by the library that drives the devices; read by libraries that wrap MPI. The release pairs with their
// acquire.
Atomic<const marline_device_memory_t*> g_memory{nullptr};

}  // namespace

}  // namespace marline

using namespace marline;

MARLINE_EXPORT void marline_device_memory_provide(const marline_device_memory_t* memory) {
  g_memory.store(memory, std::memory_order_release);
}

MARLINE_EXPORT const marline_device_memory_t* const* marline_device_memory_word() {
  static_assert(sizeof g_memory == sizeof(const marline_device_memory_t*));
  return reinterpret_cast<const marline_device_memory_t* const*>(&g_memory);
}
