// SPDX-License-Identifier: Apache-2.0
//
// How compilers' code tells of its images, and of `requires`. Called while libraries are loaded and unloaded.
#include "base/report.hpp"
#include "mapping/devices.hpp"
#include "image/requires.hpp"
#include "image/images.hpp"

#include <atomic>

namespace marline::target {

namespace {

// OpenMPOffloadingRequiresDirFlags.
constexpr int64_t kReverseOffload = 2, kUnifiedSharedMemory = 8;

std::atomic<bool> g_shared{false};
std::atomic<int> g_registered{0};  // modules that are registered now

// From 19 on the requirements are an entry.
void take_requirements() {
  const Module* module = newest_module();
  for (uint32_t i = 0; i < module->count; ++i) {
    if ((module->entries[i].flags & kEntryRequires) != 0) note_requirements(module->entries[i].data);
  }
}

}  // namespace

void note_requirements(int64_t flags) {
  if ((flags & kReverseOffload) != 0) {
    fatal("requires reverse_offload: no device of Marline's runs code of the host; leave the clause out");
  }
  if ((flags & kUnifiedSharedMemory) != 0) g_shared.store(true, std::memory_order_relaxed);
}

bool is_memory_shared() { return g_shared.load(std::memory_order_relaxed); }

extern "C" {
#pragma GCC visibility push(default)

void __tgt_register_lib(const void* descriptor) {
  register_images(descriptor);
  take_requirements();
  g_registered.fetch_add(1, std::memory_order_relaxed);
}

void __tgt_unregister_lib(const void* descriptor) {
  unregister_images(descriptor);
  if (g_registered.fetch_sub(1, std::memory_order_relaxed) == 1) stop_all();
}

void __tgt_register_requires(int64_t flags) { note_requirements(flags); }

// Called by code of some versions before anything else; everything is made ready when it is needed.
void __tgt_rtl_init() {}
void __tgt_rtl_deinit() {}
void __tgt_init_all_rtls() {}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::target
