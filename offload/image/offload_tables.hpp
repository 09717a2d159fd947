// SPDX-License-Identifier: Apache-2.0
//
// The `declare target` variables of code of GCC. Even without a compiler for devices, GCC writes them to the section
// .gnu.offload_vars of each program and library (GCC, gcc/omp-offload.cc and libgcc/offloadstuff.c). Any thread.
#pragma once

#include "base/list.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::image {

struct OffloadVariable {
  const void* address;
  size_t bytes;
  bool link;  // of the clause `link`: the device has it only while it is mapped
};

// A number that changes whenever a module has been loaded or closed.
[[nodiscard]] uint64_t loader_changes();

// Lists the variables of all loaded modules.
void list_offload_variables(List<OffloadVariable, 8>& to);

// Whether `address` is such a variable, with `bytes` bytes.
[[nodiscard]] bool is_offload_variable(const void* address, size_t bytes);

// Whether `address` is the function of a target region, by the tables of the section .gnu.offload_funcs.
[[nodiscard]] bool is_offload_function(const void* address);

}  // namespace marline::offload::image
