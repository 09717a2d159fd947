// SPDX-License-Identifier: Apache-2.0
//
// Device images that programs and libraries bring along, and their entries: kernels and `declare target` variables by
// their addresses on the host. Layouts: LLVM, clang/tools/clang-linker-wrapper and offload/include/Shared/APITypes.h
// (14 to 23). Registration is rare and takes a lock; entries are found without one.
#pragma once

#include "base/device_set.hpp"
#include "base/lock.hpp"
#include "image/device_words.hpp"
#include "image/compiler_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marline::offload::device {
struct Device;
}

namespace marline::offload::image {

using device::Device;
struct Module;

// Flags of entries, in all versions.
inline constexpr uint32_t kEntryLink = 1, kEntryConstructor = 2, kEntryIndirect = 8, kEntryRequires = 0x10;

struct Entry {
  const void* host;  // the region's id, or the variable's address
  const char* name;  // a copy, which stays when the library is gone
  size_t size;       // 0: a kernel
  uint32_t flags;
  int64_t data;      // of a requires entry: its flags
  Module* module;    // null: a function of the program (functions.hpp)
  DeviceWords code;  // of a kernel, by Device::number; 0: not asked yet; any thread writes the same value
  // Of a kernel, by submission/queue/submitted_tasks.cpp, under a lock there: it has run ahead of its time, to the end;
  // a region's end was awaited.
  std::atomic<bool> has_run{false}, is_awaited{false};
  // Of a kernel on processors: its one argument is an array of pointers to words. Set before its first launch, by each.
  std::atomic<bool> by_pointers{false};
  DeviceSet mapped;  // of a variable: the devices that have it in their mapping; under the images' lock
};

// Of a module with libomptarget. Whoever of two threads comes second takes a module away that is gone.
enum class ForeignState : int { kUnknown, kRegistered, kGone };

// What one program or library has registered. It stays when the library is closed: a device may be about to look at it.
struct Module {
  const void* descriptor;  // the compiler's __tgt_bin_desc
  Image native;            // the image for this processor; begin is null if there is none
  bool has_foreign;        // images for other architectures
  bool has_amds;           // among them, one for GPUs of AMD's
  bool is_program;         // of the program itself, which is never closed
  void* foreign;           // see foreign_descriptor; written by the thread that registers it with libomptarget
  std::atomic<bool> foreign_claimed, foreign_done;  // by the thread that does that
  std::atomic<ForeignState> foreign_state;  // released by that thread, and taken by the one that closes the library
  Entry* entries;
  uint32_t count;
  uint32_t number;         // from 1 on, never used twice; a module that comes back gets a new one
  DeviceWords handles;     // of the loaded image, by Device::number; written under the images' lock
  DeviceSet claimed;       // the devices for which a thread is loading it or has; under the same lock
  DeviceSet settled;       // those for which that is done; likewise
  Module* next;            // of those that are registered, or of those that are gone; likewise
  std::atomic<bool> gone;  // unregistered: its entries are not found any more; written under the images' lock
};

// `descriptor`: a __tgt_bin_desc, which stays until it is unregistered. Unregistration happens while the library is
// closed, so with the loader's lock: it waits for no thread that loads an image. Null: nobody has registered it.
Module* register_images(const void* descriptor);
Module* unregister_images(const void* descriptor);

// Who reads what lies in the library's memory, or tells a device of its variables, takes this lock and finds the module
// not gone. Nothing is loaded under it.
[[nodiscard]] Lock& images_lock();

// How many modules have been registered and unregistered so far.
[[nodiscard]] uint32_t module_changes();

// The first module that is registered now and has a higher number; null: none.
[[nodiscard]] Module* module_behind(uint32_t number);

// A module that a device does not have yet. It is the caller's to load unless another thread is at it: then it is
// `others`, and the caller may load a second copy. The first copy that is settled counts.
struct Claim {
  Module* module;  // null: the device has all
  uint32_t number;
  bool others;
};
[[nodiscard]] Claim claim_module(int device);
// With the images' lock. False: the module is gone, perhaps back again, or another thread has settled it.
[[nodiscard]] bool settle_module(const Claim& claim, int device, uint64_t handle);
// In a fork's child: threads that were loading are not there.
void forget_claims();

// An image of a module that is gone, which a device still has; false: none. The caller unloads it.
[[nodiscard]] bool take_gone_image(int device, uint64_t& handle, uint32_t& number);

// Whether a module that is registered now has an image for this processor.
[[nodiscard]] bool have_native_image();

// The newest version of Clang that images for this processor, of modules that are registered now, say they are made by;
// 0: none says so.
[[nodiscard]] int newest_compiler();

// Whether a module that is registered now has an image for another architecture.
[[nodiscard]] bool have_foreign_image();

// Likewise for GPUs of AMD's.
[[nodiscard]] bool have_amds_image();

// The entry of a region's id or of a variable's address; null if there is none.
[[nodiscard]] const Entry* find_entry(const void* host);

// How a kernel whose arguments have that version is called (LLVM, OMPConstants.h and the host's plugin): from 3 on
// there is a null pointer for it, which comes first with 3, and with 4 and 5 is the last of the arguments; with 5,
// processors get all of them in memory. Returns whether the caller must put the null pointer in front.
[[nodiscard]] inline bool note_convention(const Entry* kernel, uint32_t version) {
  if (version >= 5 && !kernel->by_pointers.load(std::memory_order_relaxed)) {
    const_cast<Entry*>(kernel)->by_pointers.store(true, std::memory_order_relaxed);
  }
  return version == 3;
}

}  // namespace marline::offload::image
