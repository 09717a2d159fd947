/* SPDX-License-Identifier: Apache-2.0
 *
 * See grid.h.
 */
#include "grid.h"

#include <math.h>
#include <stdlib.h>

#include "kernel.h"
#include "wave.h"

int grid_cut(const Options* options, int slabs, int i) { return (int)((long long)options->grid[0] * i / slabs); }

int grid_fewest_planes(int slabs) { return slabs > 1 ? 3 * kHalo : 1; }

static void make_slab(Grid* grid, int first, Slab* slab) {
  const int* points = grid->options->grid;
  const size_t plane = ((size_t)points[1] + 2 * kHalo) * ((size_t)points[2] + 2 * kHalo);
  Shape* shape = &slab->shape;
  shape->ny = points[1];
  shape->nz = points[2];
  shape->all = points[0];
  shape->source[0] = grid->options->start == kStartPoint ? points[0] / 2 - shape->first : -1;
  shape->source[1] = points[1] / 2;
  shape->source[2] = points[2] / 2;
  slab->below = shape->first > 0;
  slab->above = shape->first + shape->nx < points[0];
  slab->plane_size = plane;
  slab->field_size = plane * ((size_t)shape->nx + 2 * kHalo);
  slab->factor_size = (size_t)shape->nx * (size_t)shape->ny * (size_t)shape->nz;
  for (int i = 0; i < 2; ++i) {
    slab->fields[i] = grid->fields[i] + (size_t)(shape->first - first) * plane;
  }
  slab->factors = grid->factors + (size_t)(shape->first - first) * (size_t)shape->ny * (size_t)shape->nz;
}

static void make_slabs(Grid* grid, int first, int planes) {
  for (int i = 0; i < grid->slabs; ++i) {
    Shape* shape = &grid->slab[i].shape;
    shape->first = grid->slabs == 1 ? first : grid_cut(grid->options, grid->slabs, i);
    shape->nx = grid->slabs == 1 ? planes : grid_cut(grid->options, grid->slabs, i + 1) - shape->first;
    make_slab(grid, first, &grid->slab[i]);
  }
}

static void fill_medium(Grid* grid) {
  const Options* options = grid->options;
  float* damping = grid->damping;
  for (int direction = 0; direction < 3; ++direction) {
    for (int place = 0; place < options->grid[direction]; ++place) {
      *damping++ = (float)wave_damping(options, options->grid[direction], place);
    }
  }
  for (int i = 0; i < grid->slabs; ++i) {
    const Slab* slab = &grid->slab[i];
    for (size_t point = 0; point < slab->factor_size; ++point) {
      const double way = options->courant * wave_speed(options, (int)(point % (size_t)options->grid[2]));
      slab->factors[point] = (float)(way * way);
    }
  }
}

/* The standing wave at step 0, and at step -1 where step 1 will be. Beyond the border the sines are its images. */
static void fill_mode(const Options* options, const Slab* slab) {
  const Shape* shape = &slab->shape;
  const double before = cos(wave_mode_angle(options));
  for (int x = -kHalo; x < shape->nx + kHalo; ++x) {
    for (int y = -kHalo; y < shape->ny + kHalo; ++y) {
      for (int z = -kHalo; z < shape->nz + kHalo; ++z) {
        const double value = wave_mode(options, shape->first + x, y, z);
        const size_t at = kernel_index(shape, x, y, z);
        slab->fields[0][at] = (float)value;
        slab->fields[1][at] = (float)(before * value);
      }
    }
  }
}

bool grid_create(Grid* grid, const Options* options, int first, int planes, int slabs) {
  const size_t rows = (size_t)options->grid[1], points = (size_t)options->grid[2];
  const size_t field = ((size_t)planes + 2 * kHalo) * (rows + 2 * kHalo) * (points + 2 * kHalo);
  *grid = (Grid){.options = options, .slabs = slabs};
  grid->damping_size = (size_t)options->grid[0] + rows + points;
  grid->slab = calloc((size_t)slabs, sizeof *grid->slab);
  grid->factors = malloc((size_t)planes * rows * points * sizeof(float));
  grid->damping = malloc(grid->damping_size * sizeof(float));
  grid->fields[0] = calloc(field, sizeof(float));
  grid->fields[1] = calloc(field, sizeof(float));
  if (!grid->slab || !grid->factors || !grid->damping || !grid->fields[0] || !grid->fields[1]) {
    return false;
  }
  make_slabs(grid, first, planes);
  fill_medium(grid);
  for (int i = 0; i < slabs && options->start == kStartMode; ++i) {
    fill_mode(options, &grid->slab[i]);
  }
  return true;
}

void grid_destroy(Grid* grid) {
  free(grid->slab);
  free(grid->factors);
  free(grid->damping);
  free(grid->fields[0]);
  free(grid->fields[1]);
}

void grid_part(const Slab* slab, int part, int* first, int* last) {
  const int lower = slab->below ? kHalo : 0, upper = slab->shape.nx - (slab->above ? kHalo : 0);
  const int cuts[kParts + 1] = {0, lower, upper, slab->shape.nx};
  *first = cuts[part];
  *last = cuts[part + 1];
}

char* grid_token(Slab* slab, int step, int region) { return &slab->tokens[step % 2][region + 1]; }

size_t grid_region(const Slab* slab, int region) {
  const int planes[kRegions] = {0, kHalo, 2 * kHalo, slab->shape.nx, slab->shape.nx + kHalo};
  return (size_t)planes[region + 1] * slab->plane_size;
}

double grid_halo_bytes(const Options* options, int slabs) {
  const double plane = (options->grid[1] + 2.0 * kHalo) * (options->grid[2] + 2.0 * kHalo);
  return 2.0 * (slabs - 1) * kHalo * plane * sizeof(float);
}
