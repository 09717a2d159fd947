/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of a cycle in groups, the phases, and a share of all of them: a thread's part of the mesh, a block of it, or
 * the whole. Within a phase a share needs nothing of other shares; between two phases it does. Functions of their
 * arguments only; any thread.
 */
#ifndef LULESH_PHASES_H
#define LULESH_PHASES_H

#include "fields.h"

typedef struct {
  int32_t begin, end;
} Range;

/* Places in the list of one region. */
typedef struct {
  Range places;
  int times; /* that the equation of state is evaluated there */
} Part;

/* What of each loop: nodes, those of the planes of symmetry among them, elements, and these by region. */
typedef struct {
  Range nodes, plane[3], elements;
  const Part *part;
  int parts;
} Share;

typedef void Phase(Fields *fields, const Share *share);

Phase phase_forces;     /* loops 1 to 7 over elements: forces on corners; without the length of the step, as the next two */
Phase phase_gather;     /* 1, 4, 8 over nodes: their sums */
Phase phase_accelerate; /* 9 to 12, nodes: after neighbours' forces are added */
Phase phase_move;       /* 13, 14, nodes */
Phase phase_kinematics; /* 15 to 17, elements: after neighbours' motion is taken over */
Phase phase_viscosity;  /* 18, by region, and 19 to 23, by element: after neighbours' gradients are taken over */
Phase phase_material;   /* 24 to 44, by region; 42 by element */

#endif
