// SPDX-License-Identifier: Apache-2.0
//
// The entry points by which compilers' code registers its images and its `requires` directives. They are called while
// libraries are loaded and unloaded.
#include "image/images.hpp"
#include "image/requires.hpp"
#include "registry/registry.hpp"

namespace marline::offload::abi {

using namespace image;
using namespace registry;

namespace {

// From Clang 19 on, an entry of the module holds the clauses of the `requires` directives.
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

// Devices keep running even after the last module is unregistered, as another one may come. They are stopped at the
// program's end (abi/gcc/provider.cpp).
void __tgt_unregister_lib(const void* descriptor) {
  if (Module* module = unregister_images(descriptor)) forget_module(module);
}

void __tgt_register_requires(int64_t flags) { note_requirements(flags); }

// Code of some versions of Clang calls these functions before all others of this library. They do nothing, as devices
// are prepared when they are needed.
void __tgt_rtl_init() {}
void __tgt_rtl_deinit() {}
void __tgt_init_all_rtls() {}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
