// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "base/memory_limit.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>

#include <cstdio>
#include <cstdlib>

namespace marline {

size_t address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return limit.rlim_cur;
}

// The first number of statm is the size in pages. No stdio: it would take a buffer from malloc.
size_t address_space_left() {
  const size_t limit = address_space_limit();
  const int file = limit != 0 ? open("/proc/self/statm", O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return SIZE_MAX;
  char text[32] = {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return SIZE_MAX;
  const size_t used = strtoull(text, nullptr, 10) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return used < limit ? limit - used : 0;
}

AddressSpaceText::AddressSpaceText() : text_{} {
  const size_t limit = address_space_limit();
  if (limit != 0) snprintf(text_, sizeof text_, " (address space is limited to %zu KiB: `ulimit -v`)", limit / 1024);
}

void* memory_from_arenas(size_t bytes, size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}

}  // namespace marline
