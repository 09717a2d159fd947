/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables are drawn and indexed; see tables.h. Main thread, and the threads of its loops.
 */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "lookup.h"
#include "materials.h"

enum { kTablesSeed = 42, kNumbersPerPoint = 1 + kChannels };

Lengths tables_lengths(GridKind grid, int nuclides, int gridpoints) {
  const size_t points = (size_t)nuclides * (size_t)gridpoints;
  const size_t rows = grid == kGridUnionised ? points : grid == kGridHash ? kHashBins + 1 : 0;
  return (Lengths){.points = points,
                   .energies = grid == kGridUnionised ? points : 1,
                   .index = rows > 0 ? rows * (size_t)nuclides : 1};
}

double tables_bytes(const Lengths* lengths) {
  return (double)(lengths->points * sizeof(Point) + lengths->energies * sizeof(double) + lengths->index * sizeof(int) +
                  sizeof(Materials));
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b; /* energies come first in what is sorted */
  return (x > y) - (x < y);
}

/* Each nuclide's points are drawn in the order in which they will not stay. */
static void fill_points(Point* points, int nuclides, int gridpoints) {
#pragma omp parallel for schedule(dynamic)
  for (int nuclide = 0; nuclide < nuclides; ++nuclide) {
    const size_t first = (size_t)nuclide * (size_t)gridpoints;
    uint64_t state = random_skip(kTablesSeed, first * kNumbersPerPoint);
    for (Point* point = points + first; point < points + first + gridpoints; ++point) {
      point->energy = random_next(&state);
      for (int channel = 0; channel < kChannels; ++channel) {
        point->section[channel] = random_next(&state);
      }
    }
    qsort(points + first, (size_t)gridpoints, sizeof *points, compare);
  }
}

typedef struct {
  double energy;
  int nuclide;
} Step;

/* From row to row, one nuclide moves to its next point: the point that has the row's energy. */
static bool index_union(const Point* points, int nuclides, int gridpoints, double* energies, int* index) {
  const size_t count = (size_t)nuclides * (size_t)gridpoints;
  Step* steps = malloc(count * sizeof *steps);
  int* place = malloc((size_t)nuclides * sizeof *place);
  const bool room = steps && place;
  for (size_t k = 0; room && k < count; ++k) {
    steps[k] = (Step){points[k].energy, (int)(k / (size_t)gridpoints)};
  }
  if (room) {
    qsort(steps, count, sizeof *steps, compare);
    memset(place, -1, (size_t)nuclides * sizeof *place);
  }
  for (size_t row = 0; room && row < count; ++row) {
    energies[row] = steps[row].energy;
    ++place[steps[row].nuclide];
    for (int nuclide = 0; nuclide < nuclides; ++nuclide) {
      const int last = gridpoints - 2, here = place[nuclide];
      index[row * (size_t)nuclides + (size_t)nuclide] = here < 0 ? 0 : here < last ? here : last;
    }
  }
  free(place);
  free(steps);
  return room;
}

static void index_bins(const Point* points, int nuclides, int gridpoints, int* index) {
#pragma omp parallel for
  for (int bin = 0; bin <= kHashBins; ++bin) {
    const double e = (double)bin / kHashBins;
    for (int nuclide = 0; nuclide < nuclides; ++nuclide) {
      const Point* grid = points + (size_t)nuclide * (size_t)gridpoints;
      index[(size_t)bin * (size_t)nuclides + (size_t)nuclide] =
          (int)lookup_search(&grid->energy, sizeof *grid / sizeof(double), 0, gridpoints - 1, e);
    }
  }
}

bool tables_create(Tables* tables, GridKind grid, int nuclides, int gridpoints) {
  const Lengths lengths = tables_lengths(grid, nuclides, gridpoints);
  Point* points = malloc(lengths.points * sizeof *points);
  double* energies = calloc(lengths.energies, sizeof *energies);
  int* index = calloc(lengths.index, sizeof *index);
  Materials* materials = malloc(sizeof *materials);
  *tables = (Tables){grid, nuclides, gridpoints, points, energies, index, materials};
  if (!points || !energies || !index || !materials) {
    return false;
  }
  materials_fill(materials, nuclides);
  fill_points(points, nuclides, gridpoints);
  if (grid == kGridHash) {
    index_bins(points, nuclides, gridpoints, index);
  }
  return grid != kGridUnionised || index_union(points, nuclides, gridpoints, energies, index);
}

void tables_destroy(Tables* tables) {
  free((void*)tables->points);
  free((void*)tables->energies);
  free((void*)tables->index);
  free((void*)tables->materials);
}
