// SPDX-License-Identifier: Apache-2.0
//
// The devices of LLVM's own, unpatched libomptarget, which this library calls: GPUs. libomptarget keeps the data
// environment of these devices, so whole constructs are passed to it. Each construct is started without waiting for it.
// A progress hook asks for its end, and the task that waits is suspended or held. Any thread may call these functions.
#pragma once

#include "items/items.hpp"
#include "base/told.hpp"
#include "device/contract/device.hpp"
#include "device/libomptarget/library.hpp"

namespace marline::offload::device {

using namespace items;

// The arguments as Clang 16 and later pass them (LLVM, offload/include/Shared/APITypes.h). Marline knows versions up to
// 5.
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

// The items that they map. The arrays belong to the arguments.
[[nodiscard]] inline Items items_of(const KernelArguments& given) {
  return {static_cast<int32_t>(given.count),
          given.bases,
          given.begins,
          given.sizes,
          reinterpret_cast<const uint64_t*>(given.types),
          given.mappers};
}

// How many devices libomptarget has; -1: it cannot be found. `why` gets the reason if there are none.
[[nodiscard]] int llvm_device_count(const char** why);

// Where a construct is in the source: the compiler's ident, or null, and the program's call.
struct Origin {
  void* ident;
  const void* code;
};

// The text of the ident, as in Launch.
[[nodiscard]] const char* place_of(const void* ident);

// Runs a kernel on a device that is ready (registry/registry.hpp). Returns libomptarget's result: 0 for success. May
// suspend. With the nowait flag, the calling task may be held instead.
int llvm_kernel(Device* device, const Origin& origin, int32_t teams, int32_t threads, void* id,
                const KernelArguments& arguments, ReportScope& scope);

// The device's address of a variable of an image, which is loaded if necessary; 0: the device does not have it.
[[nodiscard]] uint64_t llvm_variable(Device* device, const void* host);

// libomptarget's entry points for data constructs. The same rules hold as for llvm_kernel.
enum class LlvmData { kBegin, kEnd, kUpdate };
void llvm_data(Device* device, const Origin& origin, LlvmData what, bool nowait, const Items& items, void** names,
               ReportScope& scope);

// The module's library is being closed: libomptarget forgets the module's images and variables. At the end of the
// program it does not, since libomptarget may be gone already. Any thread may call this.
void llvm_forget(Module* module);

// Called in the child of a fork, which has no GPU. Operations in flight belong to the parent, and libomptarget is not
// called at the end.
void llvm_forget_operations();

// Called before llvm_forget for each device that has been used: a variable of the module is removed from the device.
void llvm_remove_global(Device* device, const void* host);

}  // namespace marline::offload::device
