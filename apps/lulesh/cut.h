/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts the mesh into shares of consecutive nodes or elements. Made by the main thread; only read after that.
 */
#ifndef LULESH_CUT_H
#define LULESH_CUT_H

#include <stdbool.h>

#include "phases.h"

typedef struct {
  Share* share;
  int shares;
  int32_t whole; /* nodes or elements */
  Part* part;    /* of all shares */
} Cut;

/* For threads: each gets an equal range of nodes, of elements, and of each region, because regions differ in cost
 * per element. For blocks: `shares` ranges of nodes or of elements, but no more ranges than nodes or elements; a
 * block has the part of each region that lies in it. False: not enough memory. Destroy in any case. */
bool cut_for_threads(Cut* cut, const Mesh* mesh, const Regions* regions, int shares);
bool cut_nodes(Cut* cut, const Mesh* mesh, int shares);
bool cut_elements(Cut* cut, const Mesh* mesh, const Regions* regions, int shares);
void cut_destroy(Cut* cut);

/* The block that has a node or an element. */
int cut_block_of(const Cut* cut, int32_t at);

#endif
