// SPDX-License-Identifier: Apache-2.0
//
// How compilers' code tells of its images, and of `requires`. Called while libraries are loaded and unloaded.
#include "image/images.hpp"
#include "image/requires.hpp"
#include "registry/registry.hpp"

namespace marline::offload::abi {

using namespace image;
using namespace registry;

namespace {

// From 19 on the requirements are an entry.
void take_requirements(const Module* module) {
  for (uint32_t i = 0; i < module->count; ++i) {
    if ((module->entries[i].flags & kEntryRequires) != 0) note_requirements(module->entries[i].data);
  }
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

void __tgt_register_lib(const void* descriptor) {
  const Module* module = register_images(descriptor);
  note_registration(module);
  take_requirements(module);
}

// Devices go on, also behind the last module: another one may come. They are stopped at the program's end
// (provider.cpp).
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

}  // namespace marline::offload::abi
