// SPDX-License-Identifier: Apache-2.0
//
// One locator of a depend clause, and how the task accesses it.
#pragma once

#include <cstdint>

namespace marline {

enum class Access : uint8_t {
  kIn,
  kOut,  // out and inout are ordered in the same way
  kMutexinoutset,
  kInoutset,
};

// One locator of a depend clause. A null address with kOut is omp_all_memory.
struct Dependence {
  void* address;
  Access access;
};

}  // namespace marline
