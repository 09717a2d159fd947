/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of nodes and elements, and the arrays between one loop and the next, all allocated once. Three arrays stand
 * for the directions x, y, z (of a node) or xi, eta, zeta (of an element). Loops write disjoint ranges, so that forms
 * of the program differ only in the thread or task that calls a loop for a range.
 */
#ifndef LULESH_FIELDS_H
#define LULESH_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh.h"
#include "regions.h"

/* Why a run has stopped; as the reference numbers it. */
enum { kSound = 0, kBadVolume = -1, kTooViscous = -2 };

/* Of the equation of state, by place in the regions' list: each region has its own part. */
typedef struct {
  double *energy, *pressure, *viscosity, *linear, *quadratic, *change; /* values before this step */
  double *compression, *half_compression, *work;
  double *new_energy, *new_pressure, *new_viscosity, *half_pressure;
  double *bulk, *slope; /* p = bulk * e, and slope for the speed of sound */
} Material;

typedef struct {
  const Mesh* mesh;
  const Regions* regions;

  /* Of nodes. */
  double *position[3], *velocity[3], *acceleration[3], *force[3], *node_mass;

  /* Of elements. */
  double *energy, *pressure, *viscosity, *linear, *quadratic, *volume, *sound, *first_volume, *mass;
  double *new_volume, *volume_change, *volume_rate, *length;

  /* Of elements, between loops. */
  double *stress[3], *determinant, *strain[3], *spacing[3], *clamped_volume;
  double* gradient[3];                          /* with slots for ghosts */
  double *corner_force[3], *hourglass_force[3]; /* by corner; of the stress, and against the hourglass modes */
  double *corner_derivative[3], *corner_position[3];
  Material material;

  /* Of the whole. */
  double time, step, courant, hydro;
  int cycle;
  int failure; /* kSound, or why the run must stop; fields_fail writes, fields_failure reads */

  struct Watch* watch; /* NULL, or the receiver of a report of each loop in place of its execution: see phases.h */

  double* memory;    /* all of the arrays */
  double* temporary; /* the arrays that last from loop to loop only, up to the end of `memory` */
  size_t bytes;
} Fields;

/* Bytes that fields_create takes; from the mesh's sizes alone. */
double fields_bytes(const Mesh* mesh);

/* The state at time 0; node_mass is still this process's part. Memory is first touched by the threads that use it: the
 * threads of a parallel region, in equal ranges. False: not enough memory. */
bool fields_create(Fields* fields, const Mesh* mesh, const Regions* regions);
void fields_destroy(Fields* fields);

/* Gives the memory of the arrays between loops back to the system, and takes it again, as programs do that allocate
 * them in each cycle. Between two cycles. */
void fields_allocate_anew(Fields* fields);

/* Note why the run must stop, and return it. Any thread. */
void fields_fail(Fields* fields, int failure);
int fields_failure(const Fields* fields);

/* Makes a limit smaller. Any thread; the result does not depend on the order. */
void fields_lower(double* limit, double value);

#endif
