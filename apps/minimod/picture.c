/* SPDX-License-Identifier: Apache-2.0
 *
 * See picture.h. No state.
 */
#include "picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"

static float pressure(const Grid* grid, int x, int z) {
  int i = 0;
  while (x >= grid->slab[i].shape.first + grid->slab[i].shape.nx) {
    ++i;
  }
  const Shape* shape = &grid->slab[i].shape;
  return grid->slab[i].fields[grid->options->steps % 2][kernel_index(shape, x - shape->first, shape->ny / 2, z)];
}

static float largest(const Grid* grid) {
  float most = 0;
  for (int x = 0; x < grid->options->grid[0]; ++x) {
    for (int z = 0; z < grid->options->grid[2]; ++z) {
      most = fmaxf(most, fabsf(pressure(grid, x, z)));
    }
  }
  return most > 0 ? most : 1;
}

static int grey(float value, float most) {
  return (int)lround(127.5 + 127.5 * copysign(sqrt(fabs((double)value / most)), value));
}

void picture_write(const Grid* grid, const char* path, Failure* failure) {
  FILE* file = fopen(path, "wb");
  if (!file) {
    failure_note(failure, kExitInput, "--picture: cannot open '%s': %s", path, strerror(errno));
    return;
  }
  const float most = largest(grid);
  fprintf(file, "P5\n%d %d\n255\n", grid->options->grid[0], grid->options->grid[2]);
  for (int z = 0; z < grid->options->grid[2]; ++z) {
    for (int x = 0; x < grid->options->grid[0]; ++x) {
      putc(grey(pressure(grid, x, z), most), file);
    }
  }
  const int failed = ferror(file);
  if (fclose(file) != 0 || failed) {
    failure_note(failure, kExitInput, "--picture: cannot write '%s': %s", path, strerror(errno));
  }
}
