// SPDX-License-Identifier: Apache-2.0
//
// How compilers' code tells of its images, and of `requires`. Called while libraries are loaded and unloaded.
#include "base/report.hpp"
#include "image/images.hpp"
#include "image/requires.hpp"
#include "mapping/devices.hpp"

#include <atomic>

namespace marline::target {

namespace {

// OpenMPOffloadingRequiresDirFlags.
constexpr int64_t kReverseOffload = 2, kUnifiedSharedMemory = 8;

std::atomic<bool> g_shared{false};

// From 19 on the requirements are an entry.
void take_requirements(const Module* module) {
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
  const Module* module = register_images(descriptor);
  note_registration(module);
  take_requirements(module);
}

// Devices go on, also behind the last module: another one may come. They are stopped at the program's end (gomp.cpp).
void __tgt_unregister_lib(const void* descriptor) {
  if (Module* module = unregister_images(descriptor)) forget_module(module);
}

void __tgt_register_requires(int64_t flags) { note_requirements(flags); }

// Called by code of some versions before anything else; everything is made ready when it is needed.
void __tgt_rtl_init() {}
void __tgt_rtl_deinit() {}
void __tgt_init_all_rtls() {}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::target
