/* SPDX-License-Identifier: Apache-2.0
 *
 * The grid in the host's memory, all of it or a part of its planes, cut along x into slabs. Step k reads field k mod 2
 * and writes the other one. Made by the main thread. While devices compute, only the tasks that go through the host use
 * its copy.
 *
 * A slab has up to three parts: the planes that the lower and the upper neighbour need as their halo, and the inner
 * ones. The parts and the two halos are the regions of a field; part p is region p. Each region of each field has a
 * token, which is what depend clauses name.
 */
#ifndef MINIMOD_GRID_H
#define MINIMOD_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "shape.h"

enum { kLowerHalo = -1, kLower, kInner, kUpper, kUpperHalo, kParts = 3, kRegions = 5 };

typedef struct {
  Shape shape;
  bool below, above; /* has a neighbour there */
  float* fields[2];  /* its planes, with halo, of the grid's */
  float* factors;
  size_t field_size, factor_size, plane_size; /* numbers */
  char tokens[2][kRegions];
  float* there[2]; /* where the fields are on its device */
  int device;
} Slab;

typedef struct {
  const Options* options;
  int slabs;
  Slab* slab;
  float *fields[2], *factors, *damping;
  size_t damping_size;
} Grid;

/* The planes from `first` on, before the first step. False if memory does not suffice. */
bool grid_create(Grid* grid, const Options* options, int first, int planes, int slabs);
void grid_destroy(Grid* grid);

/* The first plane of slab i of `slabs`. For i >= slabs, the number of all planes. */
int grid_cut(const Options* options, int slabs, int i);

/* Fewest planes of each slab, so that its parts reach into its neighbours only. */
int grid_fewest_planes(int slabs);

/* The planes of a part: from *first to *last - 1, of the slab's. None if they are equal. */
void grid_part(const Slab* slab, int part, int* first, int* last);

/* The token of a region of the field which step `step` reads. */
char* grid_token(Slab* slab, int step, int region);

/* The slab's first plane of a region of a field, counted in numbers from the field's beginning. */
size_t grid_region(const Slab* slab, int region);

/* Bytes of all halos of a step. */
double grid_halo_bytes(const Options* options, int slabs);

#endif
