// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a kernel as Clang 16 and later pass them to libomptarget: KernelArgsTy (LLVM,
// offload/include/Shared/APITypes.h). Marline knows versions up to 5.
#pragma once

#include <cstdint>

namespace marline {

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

}  // namespace marline
