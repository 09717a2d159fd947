// SPDX-License-Identifier: Apache-2.0
//
// Memory allocators as programs call them (OpenMP 5.2, section 18.13): adds to platform/allocator.hpp the parts that
// depend on the task and the device. The null handle means def-allocator-var of the current task, which may be any
// allocator. Memory of LLVM's target spaces comes from libomptarget if the process has loaded it, otherwise from
// malloc. Any thread.
#pragma once

#include "platform/allocator.hpp"

namespace marline {

// def-allocator-var of the current task. Setting it to the null handle does nothing.
AllocatorHandle allocator_default();
void allocator_set_default(AllocatorHandle handle);

// The same as memory_allocate, and for an array of `count` elements; null if count * bytes overflows.
[[nodiscard]] void* allocator_allocate(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed = false);
[[nodiscard]] void* allocator_allocate_array(AllocatorHandle handle, size_t alignment, size_t count, size_t bytes);

// With a null pointer, allocates; with 0 bytes, frees and returns null; otherwise the same as memory_reallocate.
[[nodiscard]] void* allocator_reallocate(void* memory, size_t bytes, AllocatorHandle handle, AllocatorHandle from);

// The handle may be null, except for memory of a device that the host cannot read.
void allocator_free(void* memory, AllocatorHandle handle);

}  // namespace marline
