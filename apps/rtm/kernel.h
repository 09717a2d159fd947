/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic, for host and devices: one time step of a part of a column. Used by any thread; it writes these points
 * and nothing else.
 *
 *   next = (2 now - (1 - d) previous + k L now) / (1 + d)        k = (speed * time step / spacing)^2
 *
 * This is u_tt + 2 sigma u_t = speed^2 (Laplacian of u), by central differences of order 2 in time. L is the difference
 * of order 8 in space (Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids", Math. Comp.
 * 51, 1988, table 1), d = sigma * time step. `next` overwrites `previous`. Without damping the same formula goes back
 * in time: `previous` and `next` change places.
 *
 * All numbers are rounded one by one (compile with -ffp-contract=off): threads, compilers and devices give equal bits.
 */
#ifndef RTM_KERNEL_H
#define RTM_KERNEL_H

#include <stddef.h>

#include "survey.h"
#include "weight.h"

#pragma omp declare target

/* L at a point; the next column is `pitch` points away. */
static inline float kernel_difference(const float* at, ptrdiff_t pitch) {
  float sum = 2 * kernel_weight(0) * at[0];
  for (int i = 1; i <= kHalo; ++i) {
    sum += kernel_weight(i) * ((at[-i] + at[i]) + (at[-i * pitch] + at[i * pitch]));
  }
  return sum;
}

/* Points [first, last) of a column without damping. */
static inline void kernel_free(float* restrict next, const float* restrict now, const float* restrict factors,
                               ptrdiff_t pitch, int first, int last) {
#pragma omp simd
  for (int z = first; z < last; ++z) {
    next[z] = 2 * now[z] - next[z] + factors[z] * kernel_difference(now + z, pitch);
  }
}

/* The same with damping: d is the part of the column and that of each row. */
static inline void kernel_damped(float* restrict next, const float* restrict now, const float* restrict factors,
                                 float column, const float* restrict rows, ptrdiff_t pitch, int first, int last) {
#pragma omp simd
  for (int z = first; z < last; ++z) {
    const float d = column + rows[z];
    next[z] = (2 * now[z] - (1 - d) * next[z] + factors[z] * kernel_difference(now + z, pitch)) / (1 + d);
  }
}

#pragma omp end declare target

#endif
