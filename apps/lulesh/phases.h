/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of a cycle in groups, the phases, and a share of all of them: a thread's part of the mesh, a block of it,
 * or the whole. Within a phase a share needs no results of other shares; between two phases it does. Functions of their
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
  int times; /* how many times the equation of state is evaluated there */
} Part;

/* The ranges of a share: nodes, nodes of the planes of symmetry, elements, and elements by region. */
typedef struct {
  Range nodes, plane[3], elements;
  const Part* part;
  int parts;
} Share;

/* Gets a call for each loop with its range, which is not empty, in place of the loop's execution. */
typedef struct Watch {
  void (*loop)(struct Watch* watch, Fields* fields, Loop* loop, Range range);
} Watch;

typedef void Phase(Fields* fields, const Share* share);

/* Of elements: forces on their corners. Does not need the length of the step; the next two phases do not either. */
Phase phase_forces;
/* Of nodes: the sums of these forces. */
Phase phase_gather;
/* Of nodes, after neighbours' parts of the forces have been added. */
Phase phase_accelerate, phase_move;
/* Of elements, after neighbours' motion has been taken over: volumes and gradients. */
Phase phase_kinematics;
/* By region and by element, after neighbours' gradients have been taken over. */
Phase phase_viscosity;
/* By region, and at the end by element: the equation of state, and the limits of the next step. */
Phase phase_material;

#endif
