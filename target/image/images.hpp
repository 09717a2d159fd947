// SPDX-License-Identifier: Apache-2.0
//
// Device images that programs and libraries bring along, and their entries: kernels and `declare target` variables by
// their addresses on the host. Layouts: LLVM, clang/tools/clang-linker-wrapper and offload/include/Shared/APITypes.h
// (14 to 22). Registration is rare and takes a lock; entries are found without one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marline::target {

struct Device;
struct Module;

// Flags of entries, in all versions.
inline constexpr uint32_t kEntryLink = 1, kEntryConstructor = 2, kEntryDestructor = 4, kEntryIndirect = 8;
inline constexpr uint32_t kEntryRequires = 0x10;

// At most as many devices that run images of the processor; each keeps its own copy of an image's variables.
inline constexpr int kMaxImageDevices = 64;

struct Entry {
  const void* host;   // the region's id, or the variable's address
  const char* name;
  size_t size;        // 0: a kernel
  uint32_t flags;
  int64_t data;       // of a requires entry: its flags
  Module* module;
  std::atomic<uint64_t> code[kMaxImageDevices];  // of a kernel, by Device::number; 0: not asked yet; any thread writes
                                                 // the same value
};

struct Image {
  const char* begin;
  size_t bytes;
};

// What one program or library has registered.
struct Module {
  const void* descriptor;  // the compiler's __tgt_bin_desc
  Image native;            // the image for this processor; begin is null if there is none
  bool has_foreign;        // images for other architectures
  void* foreign;           // see foreign_descriptor
  Entry* entries;
  uint32_t count;
  Module* next;            // registered before
  uint32_t number;         // from 1 on, never used twice
  void* handles[kMaxImageDevices];  // of the loaded image, by Device::number; written under the device's start lock
  bool gone;               // unregistered: its entries are not found any more
};

// `descriptor`: a __tgt_bin_desc, which stays until it is unregistered.
void register_images(const void* descriptor);
void unregister_images(const void* descriptor);

// How many modules have been registered so far, and the newest.
[[nodiscard]] uint32_t registered_modules();
[[nodiscard]] Module* newest_module();

// Whether a module that is registered now has an image for this processor.
[[nodiscard]] bool have_native_image();

// The module's descriptor without its images for this processor, for a library that drives other devices; made at the
// first call, under the caller's lock. Null if it has none.
[[nodiscard]] void* foreign_descriptor(Module* module);

// Whether a module that is registered now has an image for another architecture.
[[nodiscard]] bool have_foreign_image();

// The entry of a region's id or of a variable's address; null if there is none.
[[nodiscard]] const Entry* find_entry(const void* host);

}  // namespace marline::target
