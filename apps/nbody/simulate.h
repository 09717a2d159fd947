/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulation as a graph of tasks that one thread creates: leapfrog steps (kick, drift, kick), each with the forces
 * between all pairs of bodies. Collective over all processes; called by the main thread outside of parallel regions.
 */
#ifndef NBODY_SIMULATE_H
#define NBODY_SIMULATE_H

#include "bodies.h"
#include "ring.h"

typedef struct {
  const Bodies* bodies;
  const Ring* ring;
  const Labels* labels;
  double softening; /* a length */
  double dt;
} Simulation;

/* Forces of the initial state; its `force` blocks must be 0. */
void simulate_forces(const Simulation* simulation);

/* Steps, from a state with forces to a state with forces. */
void simulate_steps(const Simulation* simulation, int steps);

#endif
