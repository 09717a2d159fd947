/* SPDX-License-Identifier: Apache-2.0
 *
 * A lookup, for the host and for devices: a random energy and a random material, then the sum of the cross sections of
 * all nuclides of the material, by their densities and interpolated to the energy. The method is that of XSBench, based
 * on events: lookups do not depend on each other. No state.
 */
#ifndef XSBENCH_LOOKUP_H
#define XSBENCH_LOOKUP_H

#include "data.h"
#include "random.h"

enum { kLookupSeed = 1070, kNumbersPerLookup = 2 };

#pragma omp declare target

/* The last of the places from low to high - 1 with an energy not above e; low if there is none. */
static inline long long lookup_search(const double* energies, int stride, long long low, long long high, double e) {
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (energies[middle * stride] > e) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
}

/* The row of the index for energy e. */
static inline long long lookup_row(const Tables* tables, double e) {
  if (tables->grid == kGridUnionised) {
    return lookup_search(tables->energies, 1, 0, (long long)tables->nuclides * tables->gridpoints, e);
  }
  const int bin = (int)(e * kHashBins);
  return bin < kHashBins ? bin : kHashBins - 1;
}

/* The lower of the two points of a nuclide between which e lies. */
static inline const Point* lookup_point(const Tables* tables, int nuclide, long long row, double e) {
  const Point* points = tables->points + (long long)nuclide * tables->gridpoints;
  long long low = 0, high = tables->gridpoints - 1;
  if (tables->grid != kGridNuclide) {
    const int* place = tables->index + row * tables->nuclides + nuclide;
    if (tables->grid == kGridUnionised) {
      return points + *place;
    }
    low = *place;
    high = place[tables->nuclides] + 1; /* of the next row */
  }
  return points + lookup_search(&points->energy, sizeof *points / sizeof(double), low, high, e);
}

static inline void lookup_sum(const Tables* tables, int material, double e, double* sums) {
  const Materials* materials = tables->materials;
  const long long row = tables->grid == kGridNuclide ? 0 : lookup_row(tables, e);
  for (int k = 0; k < materials->count[material]; ++k) {
    const Point *below = lookup_point(tables, materials->nuclide[material][k], row, e), *above = below + 1;
    const double part = (above->energy - e) / (above->energy - below->energy);
    for (int channel = 0; channel < kChannels; ++channel) {
      const double high = above->section[channel], low = below->section[channel];
      sums[channel] += (high - part * (high - low)) * materials->density[material][k];
    }
  }
}

/* The fuel gets what the other materials leave. */
static inline int lookup_material(const Materials* materials, double choice) {
  for (int material = 1; material < kMaterials; ++material) {
    if (choice < materials->up_to[material]) {
      return material;
    }
  }
  return 0;
}

/* The lookup's contribution to the checksum: the number, from 1, of the channel with the largest sum. */
static inline unsigned long long lookup_channel(const Tables* tables, long long lookup) {
  uint64_t state = random_skip(kLookupSeed, kNumbersPerLookup * (uint64_t)lookup);
  const double e = random_next(&state), choice = random_next(&state);
  double sums[kChannels] = {0};
  int largest = 0;
  lookup_sum(tables, lookup_material(tables->materials, choice), e, sums);
  for (int channel = 1; channel < kChannels; ++channel) {
    largest = sums[channel] > sums[largest] ? channel : largest;
  }
  return (unsigned long long)largest + 1;
}

#pragma omp end declare target

#endif
