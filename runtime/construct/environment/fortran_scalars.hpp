// SPDX-License-Identifier: Apache-2.0
//
// The set of gfortran's allocatable scalars (14 and later, -fopenmp-allocators) in memory of an OpenMP allocator. An
// array's descriptor records that itself; a scalar is a bare pointer, so the code asks before it frees one. Any thread.
#pragma once

namespace marline {

// Adds the scalar at `memory` to the set.
void fortran_scalar_add(const void* memory);

// Removes the scalar from the set; whether it was there. If so, the caller frees or moves it.
[[nodiscard]] bool fortran_scalar_take(const void* memory);

}  // namespace marline
