// SPDX-License-Identifier: Apache-2.0
//
// The `declare target` variables of code of GCC: without a compiler for devices, too, GCC writes them to the section
// .gnu.offload_vars of each program and library (GCC, gcc/omp-offload.cc and libgcc/offloadstuff.c). Any thread.
#pragma once

#include "base/array.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::image {

struct OffloadVariable {
  const void* address;
  size_t bytes;
  bool link;  // of the clause `link`: only there while it is mapped
};

// Changes whenever a module has been loaded or closed.
[[nodiscard]] uint64_t loader_changes();

// The variables of all modules that are loaded.
void list_offload_variables(Array<OffloadVariable>& to);

// Whether it is one of these, with these bytes.
[[nodiscard]] bool is_offload_variable(const void* address, size_t bytes);

// Whether it is the function of a target region, by the tables of the section .gnu.offload_funcs.
[[nodiscard]] bool is_offload_function(const void* address);

}  // namespace marline::offload::image
