// SPDX-License-Identifier: Apache-2.0
//
// The registry of the device images that programs and libraries contain, and of their entries: kernels and `declare
// target` variables by their addresses on the host. Layouts: LLVM, clang/tools/clang-linker-wrapper and
// offload/include/Shared/APITypes.h (14 to 23). Registration is rare and takes a lock; entries are found without a
// lock.
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

// Whether a kernel for another architecture has an environment, as Clang's have since version 18.
enum class Environment : int8_t { kNotLookedUp, kThere, kNone };

struct Entry {
  const void* host;  // the region's id, or the variable's address
  const char* name;  // a copy, which stays valid when the library is gone
  size_t size;       // 0: a kernel
  uint32_t flags;
  int64_t data;      // of a requires entry: its flags
  Module* module;    // null: a function of the program (functions.hpp)
  DeviceWords code;  // of a kernel, by Device::number; 0: not looked up yet; all threads write the same value
  // Of a kernel, written by submission/queue/submission.cpp under a lock there. has_run: a region that was
  // submitted early has run to its end. is_awaited: the program has awaited the end of a region.
  std::atomic<bool> has_run{false}, is_awaited{false};
  // Of a kernel on processors: its only argument is an array of pointers to words. Each launching thread sets it before
  // the kernel's first launch.
  std::atomic<bool> by_pointers{false};
  mutable std::atomic<Environment> environment{Environment::kNotLookedUp};  // all threads write the same value
  DeviceSet mapped;  // of a variable: the devices that have it in their mapping; under the images' lock
};

[[nodiscard]] inline bool is_variable(const Entry& entry) {
  return entry.size != 0 && (entry.flags & (kEntryIndirect | kEntryRequires)) == 0 && entry.host != nullptr;
}

// Which Clang has made the kernels of an image for this processor.
enum class KernelsOf : int { kNotLookedUp, kClang18, kAnother };

// The state of a module with libomptarget. One thread registers a module while another closes it: the second of them
// removes it from libomptarget.
enum class ForeignState : int { kUnknown, kRegistered, kGone };

// What one program or library has registered. It is not freed when the library is closed, because a device may be about
// to read it.
struct Module {
  const void* descriptor;             // the compiler's __tgt_bin_desc
  Image native;                       // the image for this processor; begin is null if there is none
  bool has_foreign;                   // there are images for other architectures
  bool has_amds;                      // one of them is for AMD's GPUs
  bool is_program;                    // registered by the program itself, which is never closed
  std::atomic<KernelsOf> kernels_of;  // all threads write the same value
  void* foreign;  // see foreign_descriptor; written by the thread that registers the module with libomptarget
  std::atomic<bool> foreign_claimed, foreign_done;  // set by that thread when it begins, and when it is done
  // Released by that thread, and acquired by the thread that closes the library.
  std::atomic<ForeignState> foreign_state;
  Entry* entries;
  uint32_t count;
  uint32_t number;         // from 1 on, never used twice; a module that comes back gets a new one
  DeviceWords handles;     // handles of the loaded image, by Device::number; written under the images' lock
  DeviceSet claimed;       // the devices for which a thread loads the image, or has loaded it; under the images' lock
  DeviceSet settled;       // the devices for which loading is done; under the images' lock
  Module* next;            // in the list of registered modules, or of gone modules; under the images' lock
  std::atomic<bool> gone;  // unregistered: its entries are not found any more; written under the images' lock
};

// `descriptor`: a __tgt_bin_desc, which stays valid until it is unregistered. A library is unregistered while it is
// closed, with the loader's lock held, so unregister_images waits for no thread that loads an image. It returns null if
// the descriptor is not registered.
Module* register_images(const void* descriptor);
Module* unregister_images(const void* descriptor);

// A thread that reads the library's memory, or gives the library's variables to a device, takes this lock and checks
// that the module is not gone. No image is loaded under this lock.
[[nodiscard]] Lock& images_lock();

// How often modules have been registered or unregistered so far.
[[nodiscard]] uint32_t module_changes();

// The first registered module with a number above `number`; null: there is none.
[[nodiscard]] Module* module_after(uint32_t number);

// A module that a device does not have yet. The caller loads it. If another thread is loading it already, `others` is
// set, and the caller may load a second copy. The first copy that is settled counts.
struct Claim {
  Module* module;  // null: the device has all modules
  uint32_t number;
  bool others;
};
[[nodiscard]] Claim claim_module(int device);
// Called with the images' lock held. Returns false if the module is gone, or has come back, or another thread has
// settled it.
[[nodiscard]] bool settle_module(const Claim& claim, int device, uint64_t handle);
// Called in the child of a fork: the threads that were loading images do not exist there.
void forget_claims();

// Takes an image that a device still has although its module is gone. Returns false if there is none. The caller
// unloads the image.
[[nodiscard]] bool take_gone_image(int device, uint64_t& handle, uint32_t& number);

// Whether a module that is registered now has an image for this processor.
[[nodiscard]] bool have_native_image();

// The newest version of Clang that the images for this processor name as their compiler, of all modules that are
// registered now; 0: no image names one.
[[nodiscard]] int newest_compiler();

// Whether a module that is registered now has an image for another architecture.
[[nodiscard]] bool have_foreign_image();

// The same for AMD's GPUs.
[[nodiscard]] bool have_amds_image();

// The entry of a region's id or of a variable's address; null if there is none.
[[nodiscard]] const Entry* find_entry(const void* host);

// Whether the kernel is in an image for this processor that Clang 18 has made.
[[nodiscard]] bool is_of_clang_18(const Entry* kernel);

// The version of a kernel's arguments for libomptarget. From LLVM 19 on, libomptarget takes kernels with version 2 for
// those of Clang 16 and 17, and gives them no pointer in front (note_convention). Kernels of Clang 18 for other
// architectures need that pointer, as version 3 says, which has the same layout.
[[nodiscard]] uint32_t foreign_version(const void* id, uint32_t version);

// How a kernel is called if its arguments have this version (LLVM, OMPConstants.h and the host's plugin). From version
// 3 on, the kernel gets one more argument, a null pointer: it is the first argument with 3, and the last with 4 and 5.
// Clang 18 gives version 2 to kernels that get it as their first argument, Clang 16 and 17 to kernels that do not. With
// 5, processors get all arguments in memory. Returns whether the caller must put the null pointer in front.
[[nodiscard]] inline bool note_convention(const Entry* kernel, uint32_t version) {
  if (version >= 5 && !kernel->by_pointers.load(std::memory_order_relaxed)) {
    const_cast<Entry*>(kernel)->by_pointers.store(true, std::memory_order_relaxed);
  }
  return version == 3 || (version == 2 && is_of_clang_18(kernel));
}

}  // namespace marline::offload::image
