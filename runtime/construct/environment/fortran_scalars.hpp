// SPDX-License-Identifier: Apache-2.0
//
// The allocatable scalars of gfortran (14 and later, -fopenmp-allocators) whose memory comes from an OpenMP allocator.
// An array's descriptor says so itself; a scalar is a bare pointer, so the code asks before it frees one. Any thread.
#pragma once

namespace marline {

// `memory` is such a scalar from now on.
void fortran_scalar_add(const void* memory);

// Whether it is one; if so, it is none from now on: the caller frees or moves it.
[[nodiscard]] bool fortran_scalar_take(const void* memory);

}  // namespace marline
