/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic, for host and device: one time step on a chunk, which is some points of a row along z. Used by any
 * thread; a chunk writes its own points and their images, and nothing else.
 *
 *   next = (2 now - (1 - d) previous + k (L now + s)) / (1 + d)        k = (speed * time step / spacing)^2
 *
 * This is u_tt + 2 sigma u_t = speed^2 (Laplacian of u + s), by central differences of order 2 in time. L is the
 * difference of order 8 in space (Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids",
 * Math. Comp. 51, 1988, table 1), d = sigma * time step. `next` overwrites `previous`.
 *
 * The pressure is zero on the border of the grid, which is one point beyond the last ones. There the wave is odd: the
 * point that is k beyond the border has the negative value of the one that is k in front of it. A chunk writes these
 * images of its points, so that the next step finds them.
 *
 * All numbers are rounded one by one (compile with -ffp-contract=off): slabs, compilers and devices give equal bits.
 */
#ifndef MINIMOD_KERNEL_H
#define MINIMOD_KERNEL_H

#include <stddef.h>

#include "shape.h"
#include "weight.h"

#pragma omp declare target

/* Of a field; x, y, z from -kHalo. */
static inline size_t kernel_index(const Shape* shape, int x, int y, int z) {
  const size_t rows = (size_t)shape->ny + 2 * kHalo, points = (size_t)shape->nz + 2 * kHalo;
  return ((size_t)(x + kHalo) * rows + (size_t)(y + kHalo)) * points + (size_t)(z + kHalo);
}

/* The negative values of [first, last) of a row go to row (x, y). */
static inline void kernel_image_row(const Shape* shape, float* next, const float* row, int x, int y, int first,
                                    int last) {
  float* image = next + kernel_index(shape, x, y, 0);
  for (int z = first; z < last; ++z) {
    image[z] = -row[z];
  }
}

/* kHalo - 1 points on each side have an image: the border itself is zero, and stays so. */
static inline void kernel_images(const Shape* shape, float* next, int x, int y, int first, int last) {
  const int last_x = shape->first + shape->nx == shape->all ? shape->nx : 2 * shape->nx; /* 2 nx: no plane is near it */
  float* row = next + kernel_index(shape, x, y, 0);
  if (shape->first + x < kHalo - 1) kernel_image_row(shape, next, row, -2 - x, y, first, last);
  if (x > last_x - kHalo) kernel_image_row(shape, next, row, 2 * last_x - x, y, first, last);
  if (y < kHalo - 1) kernel_image_row(shape, next, row, x, -2 - y, first, last);
  if (y > shape->ny - kHalo) kernel_image_row(shape, next, row, x, 2 * shape->ny - y, first, last);
  for (int z = first; z < last && z < kHalo - 1; ++z) row[-2 - z] = -row[z];
  for (int z = last - 1; z >= first && z > shape->nz - kHalo; --z) row[2 * shape->nz - z] = -row[z];
}

/* Points [first, last) of row (x, y). `factors`: k of each point of the slab. `damping`: the parts of d by x (of the
 * whole grid), y and z, one after the other; their sum is d. `source`: s at this time. */
static inline void kernel_chunk(const Shape* shape, float* restrict next, const float* restrict now,
                                const float* restrict factors, const float* restrict damping, int x, int y, int first,
                                int last, float source) {
  const size_t row = kernel_index(shape, x, y, 0);
  const ptrdiff_t plane = (ptrdiff_t)kernel_index(shape, x + 1, y, 0) - (ptrdiff_t)row;
  const ptrdiff_t line = (ptrdiff_t)shape->nz + 2 * kHalo;
  const float *u = now + row, *k = factors + ((size_t)x * (size_t)shape->ny + (size_t)y) * (size_t)shape->nz;
  const float damping_xy = damping[shape->first + x] + damping[shape->all + y];
  const float* damping_z = damping + shape->all + shape->ny;
  float* v = next + row;
#pragma omp simd
  for (int z = first; z < last; ++z) {
    const float* at = u + z;
    const float d = damping_xy + damping_z[z];
    float sum = 3 * kernel_weight(0) * at[0];
    for (int i = 1; i <= kHalo; ++i) {
      sum += kernel_weight(i) * ((at[-i] + at[i]) + (at[-i * line] + at[i * line]) + (at[-i * plane] + at[i * plane]));
    }
    v[z] = (2 * at[0] - (1 - d) * v[z] + k[z] * sum) / (1 + d);
  }
  if (x == shape->source[0] && y == shape->source[1] && first <= shape->source[2] && shape->source[2] < last) {
    v[shape->source[2]] += k[shape->source[2]] * source;
  }
  kernel_images(shape, next, x, y, first, last);
}

#pragma omp end declare target

#endif
