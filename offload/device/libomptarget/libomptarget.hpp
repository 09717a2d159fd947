// SPDX-License-Identifier: Apache-2.0
//
// The devices of LLVM's own libomptarget, unpatched, which lies below this library: GPUs. It keeps their data
// environment itself, so whole constructs are passed on to it. Each is started as one that need not be waited for; a
// progress hook asks for its end, and the task that waits is suspended or put aside. Any thread.
#pragma once

#include "items/items.hpp"
#include "base/told.hpp"
#include "device/contract/device.hpp"
#include "device/libomptarget/library.hpp"

namespace marline::offload::device {

using namespace items;

// As Clang passes them from 16 on (LLVM, offload/include/Shared/APITypes.h); Marline knows versions up to 5.
struct KernelArguments {
  uint32_t version;
  uint32_t count;
  void** bases;
  void** begins;
  int64_t* sizes;
  int64_t* types;
  void** names;
  void** mappers;
  uint64_t trip_count;
  uint64_t flags;
  uint32_t teams[3];
  uint32_t threads[3];
  uint32_t dynamic_memory;
};
inline constexpr uint64_t kNowaitFlag = 1;

[[nodiscard]] inline GpuGrid grid_of(const KernelArguments& given) {
  return {given.flags & ~kNowaitFlag,
          given.dynamic_memory,
          {given.teams[1], given.teams[2]},
          {given.threads[1], given.threads[2]}};
}

// What they map; the arrays are theirs.
[[nodiscard]] inline Items items_of(const KernelArguments& given) {
  return {static_cast<int32_t>(given.count),
          given.bases,
          given.begins,
          given.sizes,
          reinterpret_cast<const uint64_t*>(given.types),
          given.mappers};
}

// How many devices it has; -1 if it cannot be found. `why` tells why there are none.
[[nodiscard]] int llvm_device_count(const char** why);

// Where a construct stands: the compiler's ident, or null, and the program's call.
struct Origin {
  void* ident;
  const void* code;
};

// The ident's text, as in Launch.
[[nodiscard]] const char* place_of(const void* ident);

// Of a device that is ready (registry/registry.hpp). Returns what it returns: 0 for success. May suspend. With the
// nowait flag, the calling task may be held instead.
int llvm_kernel(Device* device, const Origin& origin, int32_t teams, int32_t threads, void* id,
                const KernelArguments& arguments, ToldScope& scope);

// Where the device has a variable of an image, which it loads for that; 0: it does not have it.
[[nodiscard]] uint64_t llvm_variable(Device* device, const void* host);

// Its entry points for data constructs, likewise.
enum class LlvmData { kBegin, kEnd, kUpdate };
void llvm_data(Device* device, const Origin& origin, LlvmData what, bool nowait, const Items& items, void** names,
               ToldScope& scope);

// The module's library is being closed: libomptarget forgets its images and variables. At the program's end it does
// not, since libomptarget may be gone before. Any thread.
void llvm_forget(Module* module);

// In a fork's child, which has no GPU: what is under way is the program's, and libomptarget is left alone at the end.
void llvm_forget_operations();

// Before that, for each device that has been used: a variable of the module has no place there any more.
void llvm_remove_global(Device* device, const void* host);

}  // namespace marline::offload::device
