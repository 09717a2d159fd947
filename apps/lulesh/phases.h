/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of a cycle in groups, the phases, and a share of all of them: a thread's part of the mesh, a block of it,
 * or the whole. Within a phase a share needs nothing of other shares; between two phases it does. Functions of their
 * arguments only; any thread.
 */
#ifndef LULESH_PHASES_H
#define LULESH_PHASES_H

#include "loops.h"

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
  const Part* part;
  int parts;
} Share;

/* Is told of each loop and its range, which is not empty, in place of its execution. */
typedef struct Watch {
  void (*loop)(struct Watch* watch, Fields* fields, Loop* loop, Range range);
} Watch;

typedef void Phase(Fields* fields, const Share* share);

/* Of elements: forces on their corners. Needs no length of the step; nor do the next two. */
Phase phase_forces;
/* Of nodes: the sums of these forces. */
Phase phase_gather;
/* Of nodes, after neighbours' parts of the forces have been added. */
Phase phase_accelerate, phase_move;
/* Of elements, after neighbours' motion has been taken over: volumes and gradients. */
Phase phase_kinematics;
/* By region and by element, after neighbours' gradients have been taken over. */
Phase phase_viscosity;
/* By region, and by element at last: the equation of state, and the limits of the next step. */
Phase phase_material;

#endif
