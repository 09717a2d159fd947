/* SPDX-License-Identifier: Apache-2.0
 *
 * See host.h. No state.
 */
#include "host.h"

#include "kernel.h"
#include "rest.h"
#include "wave.h"

static void compute(const Grid* grid, const Slab* slab, int step, int part, bool parallel) {
  const Shape* shape = &slab->shape;
  const float* now = slab->fields[step % 2];
  float* next = slab->fields[(step + 1) % 2];
  const float source = (float)wave_source(grid->options, step * grid->options->courant);
  int first, last;
  grid_part(slab, part, &first, &last);
#pragma omp parallel for collapse(2) schedule(static) if (parallel)
  for (int x = first; x < last; ++x) {
    for (int y = 0; y < shape->ny; ++y) {
      kernel_chunk(shape, next, now, slab->factors, grid->damping, x, y, 0, shape->nz, source);
    }
  }
}

void host_part(const Grid* grid, const Slab* slab, int step, int part) {
  if (grid->options->sleep > 0) {
    int first, last;
    grid_part(slab, part, &first, &last);
    rest_sleep(rest_time(grid->options, &slab->shape, last - first), slab->device);
  } else {
    compute(grid, slab, step, part, true);
  }
}

void host_part_serial(const Grid* grid, const Slab* slab, int step, int part) {
  compute(grid, slab, step, part, false);
}
