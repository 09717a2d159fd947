/* SPDX-License-Identifier: Apache-2.0
 *
 * What the cubes of neighbouring processes tell each other, one message per neighbour and exchange. Nodes at the border of
 * a cube exist in all cubes that touch there; elements exist once.
 */
#ifndef LULESH_EXCHANGE_H
#define LULESH_EXCHANGE_H

#include <stdbool.h>

#include "fields.h"

enum { kMostNeighbours = 26, kNodeFields = 6, kGhostFields = 3 };

/* The border with one neighbour. */
typedef struct {
  int rank;
  int direction[3]; /* -1, 0 or 1 in columns, rows, planes */
  int32_t nodes, *node; /* that both have, in ascending order */
  int32_t elements, *element, ghosts; /* of ours, if a face is shared; and where the other's lie */
  double *out, *in;
} Border;

typedef struct {
  const Mesh *mesh;
  int count;
  Border border[kMostNeighbours]; /* in the order in which sums are made: faces, edges, corners */
} Exchange;

/* False: not enough memory; exchange_destroy frees what there is. */
bool exchange_create(Exchange *exchange, const Mesh *mesh);
void exchange_destroy(Exchange *exchange);

/* Each process adds what the others have of the nodes that it shares. Collective, as the next two. */
void exchange_node_mass(Exchange *exchange, Fields *fields);
void exchange_forces(Exchange *exchange, Fields *fields);

/* All processes take positions and velocities of a node from the process of the highest number that has it, so that
 * rounding cannot pull copies apart. */
void exchange_motion(Exchange *exchange, Fields *fields);

/* The gradients of elements on both sides of a face. */
void exchange_gradients(Exchange *exchange, Fields *fields);

#endif
