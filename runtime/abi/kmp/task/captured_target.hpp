// SPDX-License-Identifier: Apache-2.0
//
// A target task whose body is one call of libomptarget, with copies of the call's arguments. The creator's; later the
// thread that runs the task.
#pragma once

#include "abi/kmp/types.hpp"
#include "../common/kernel_arguments.hpp"

namespace marline::kmp {

inline constexpr uint32_t kNewestKernelArguments = 5;

using RunKernel = int32_t (*)(Ident*, int64_t device, int32_t teams, int32_t threads, void* id, KernelArguments*);
using RunData = void (*)(Ident*, int64_t device, int32_t count, void** bases, void** begins, int64_t* sizes,
                         int64_t* types, void** names, void** mappers);

// One call. Of a data construct, `arguments` has the items only.
struct TargetCall {
  RunKernel run_kernel;  // null: run_data is called
  RunData run_data;
  Ident* where;
  int64_t device;
  int32_t teams, threads;
  void* id;
  KernelArguments arguments;
};

// The map type of an item whose bytes the call copies to the device, and of one that is a list of dimensions.
inline constexpr int64_t kItemPrivate = 0x80, kItemLiteral = 0x100, kItemNonContiguous = int64_t{1} << 44;

// Returns the block of a new target task that makes this call. The arrays are copied, and the bytes of private items.
[[nodiscard]] TaskBlock* capture_target(const TargetCall& call, int32_t thread);

}  // namespace marline::kmp
