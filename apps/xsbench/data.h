/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lookup reads: cross sections of nuclides over the energy, what materials consist of, and, depending on the
 * kind of grid, an index that spares searches. Read only once it is made.
 */
#ifndef XSBENCH_DATA_H
#define XSBENCH_DATA_H

enum {
  kChannels = 5, /* total, elastic, absorption, fission, fission times neutrons */
  kMaterials = 12,
  kSmallNuclides = 68,
  kLargeNuclides = 355,
  kMostInMaterial = 321, /* fuel of the large reactor */
  kHashBins = 1 << 13,   /* a power of two: an energy's bin is exact */
};

/* How the interval of an energy is found in each nuclide's grid. */
typedef enum {
  kGridUnionised, /* one search in the energies of all nuclides; its row of the index has the place in each grid */
  kGridNuclide,   /* a search in each nuclide's grid */
  kGridHash,      /* the energy's bin gives a row of the index, which bounds the search in each grid */
  kGrids
} GridKind;

typedef struct {
  double energy;
  double section[kChannels];
} Point;

typedef struct {
  double up_to[kMaterials]; /* a random number below this, and not below that of the material before, means this one;
                               the fuel, which is the first, has none */
  int count[kMaterials];
  int nuclide[kMaterials][kMostInMaterial];
  double density[kMaterials][kMostInMaterial];
} Materials;

/* Scalars and pointers of one memory, the host's or a device's. */
typedef struct {
  GridKind grid;
  int nuclides;
  int gridpoints;             /* of each nuclide */
  const Point* points;        /* nuclides x gridpoints, ascending within a nuclide */
  const double* energies;     /* unionised: of all points, ascending */
  const int* index;           /* rows x nuclides: the last point not above the row's energy, at most the last but one */
  const Materials* materials; /* one */
} Tables;

#endif
