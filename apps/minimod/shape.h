/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel knows of a slab: its size and place in the whole grid. Constant while the slab is in use. Points are
 * numbered from 0 in each direction; x is the slowest. A field has kHalo more points on each side of each direction.
 */
#ifndef MINIMOD_SHAPE_H
#define MINIMOD_SHAPE_H

enum { kHalo = 4 }; /* how far the stencil reaches */

typedef struct {
  int nx, ny, nz; /* points of the slab */
  int first;      /* its first plane, counted in the whole grid */
  int all;        /* planes of the whole grid */
  int source[3];  /* the point with the source, in the slab's numbers; x is outside of the slab if it is elsewhere */
} Shape;

#endif
