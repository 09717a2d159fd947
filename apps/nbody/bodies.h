/* SPDX-License-Identifier: Apache-2.0
 *
 * The bodies that this process owns, and where they come from: a star cluster in equilibrium. A body's mass, place and
 * velocity at the start are a function of the seed and its number alone, so that every distribution over ranks and
 * blocks is the same physical system. Units: G = 1, the masses sum up to about 1, the cluster's scale length is 1.
 *
 * Created, filled and destroyed by the main thread; see block.h for who touches the blocks.
 */
#ifndef NBODY_BODIES_H
#define NBODY_BODIES_H

#include "block.h"
#include "layout.h"

typedef struct {
  const Layout* layout;
  int blocks; /* of this process */
  Slab positions;
  Slab velocities;
  Slab forces;
} Bodies;

/* A body at the start. */
typedef struct {
  double mass;
  double position[3];
  double velocity[3];
} Body;

/* False if memory does not suffice; destroy in any case. */
bool bodies_create(Bodies* bodies, const Layout* layout);
void bodies_destroy(Bodies* bodies);

/* Block b of this process. */
Block bodies_position(const Bodies* bodies, int b);
Block bodies_velocity(const Bodies* bodies, int b);
Block bodies_force(const Bodies* bodies, int b);

/* Fills the blocks by tasks: the thread that writes a block first decides on which memory node it lies. */
void bodies_fill(Bodies* bodies, long long seed);

/* Body `number` of a cluster of `bodies`. */
Body body_at_start(long long seed, int number, int bodies);

#endif
