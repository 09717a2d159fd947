// SPDX-License-Identifier: Apache-2.0
//
// Memory: aligned where malloc's alignment is not enough. Any thread.
#include "construct/memory.hpp"

#include <cstdlib>

namespace marline {

void* memory_allocate(size_t alignment, size_t bytes) {
  if (alignment <= alignof(max_align_t)) return std::malloc(bytes);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

}  // namespace marline
