// SPDX-License-Identifier: Apache-2.0
//
// Memory for `allocate` clauses and depend objects. Allocators are not told apart: all memory comes from malloc, which
// satisfies every predefined allocator that asks for no particular place (OpenMP 5.2, section 6.2).
#pragma once

#include <cstddef>

namespace marline {

// Null if there is none. `alignment` is 0 or a power of two. Freed by std::free.
[[nodiscard]] void* memory_allocate(size_t alignment, size_t bytes);

}  // namespace marline
