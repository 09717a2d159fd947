// SPDX-License-Identifier: Apache-2.0
//
// What a kind of devices does for which another OpenMP runtime keeps the memory and the data environment. The
// program's constructs and routines are passed on to that runtime. Any thread may call these functions.
#pragma once

#include "base/reported_construct.hpp"
#include "device/contract/device.hpp"
#include "items/items.hpp"
#include "../common/kernel_arguments.hpp"

namespace marline::offload::device {

using namespace items;

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

// Where a construct is in the source: the compiler's ident, or null, and the program's call.
struct Origin {
  void* ident;
  const void* code;
};

// One side of a copy.
struct CopyEnd {
  Device* device;  // null: the host
  char* address;

  [[nodiscard]] uint64_t word() const { return reinterpret_cast<uint64_t>(address); }
};

// The devices are ready (registry/registry.hpp). A function that returns int returns 0 for success, unless it is that
// of an OpenMP routine, which has that routine's result.
struct Delegate {
  // Runs a target region. May suspend; with the nowait flag, the calling task may be held instead.
  int (*run_kernel)(Device*, const Origin&, int32_t teams, int32_t threads, void* id, const KernelArguments&,
                    ReportScope&);
  // Runs a data construct, which is not a target region. The same rules hold.
  void (*run_data)(Device*, const Origin&, ConstructKind, bool nowait, const Items&, void** names, ReportScope&);

  // Copy and fill memory by address. At least one end is a device. May suspend.
  int (*copy)(const CopyEnd& to, const CopyEnd& from, size_t bytes);
  int (*copy_rectangle)(const CopyEnd& to, const CopyEnd& from, const marline_rectangle_t&, size_t bytes);
  int (*fill)(Device*, char* address, int value, size_t bytes);

  // omp_target_is_present, omp_get_mapped_ptr, omp_target_associate_ptr, omp_target_disassociate_ptr and
  // omp_get_gprivate_limit.
  int (*is_present)(Device*, const void* host);
  void* (*mapped)(Device*, const void* host);
  int (*associate)(Device*, const void* host, const void* device, size_t bytes, size_t offset);
  int (*disassociate)(Device*, const void* host);
  size_t (*group_private_limit)(Device*, int access);

  // The module's library is being closed: removes the module's variables from the device, which has been used.
  void (*forget)(Device*, const Module*);
};

}  // namespace marline::offload::device
