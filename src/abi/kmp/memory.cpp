// SPDX-License-Identifier: Apache-2.0
//
// Memory, as Clang asks for it: `allocate` clauses, depend objects.
#include "construct/memory.hpp"

#include "abi/kmp/types.hpp"

#include <cstdlib>

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {

void* __kmpc_alloc(int32_t, size_t bytes, void*) { return memory_allocate(0, bytes); }
void* __kmpc_aligned_alloc(int32_t, size_t alignment, size_t bytes, void*) { return memory_allocate(alignment, bytes); }
void* __kmpc_calloc(int32_t, size_t count, size_t bytes, void*) { return std::calloc(count, bytes); }
void* __kmpc_realloc(int32_t, void* old, size_t bytes, void*, void*) { return std::realloc(old, bytes); }
void __kmpc_free(int32_t, void* memory, void*) { std::free(memory); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
