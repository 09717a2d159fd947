// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "base/memory_limit.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

namespace marline {

size_t address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return limit.rlim_cur;
}

AddressSpaceText::AddressSpaceText() : text_{} {
  const size_t limit = address_space_limit();
  if (limit != 0) snprintf(text_, sizeof text_, " (address space is limited to %zu KiB: `ulimit -v`)", limit / 1024);
}

void* memory_from_arenas(size_t bytes, size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}

}  // namespace marline
