/* SPDX-License-Identifier: Apache-2.0
 *
 * All loops of a cycle: their names, and which arrays they read and write by which index. The measurements use the
 * table (loop_times.c, footprint.c); the loops themselves do not. Constant.
 */
#ifndef LULESH_LOOP_TABLE_H
#define LULESH_LOOP_TABLE_H

#include <stddef.h>

#include "loops.h"

/* How a loop comes from its index to an array's. */
typedef enum {
  kNothing,     /* marks the end of a loop's accesses */
  kSame,        /* the index itself */
  kOwnCorners,  /* the 8 corners of the element */
  kItsNodes,    /* the 8 nodes of the element */
  kItsCorners,  /* the corners that meet at the node */
  kOfPlace,     /* the element at a place in the regions' list */
  kBeyondFaces, /* the elements beyond the two faces along an axis, of the element at a place */
  kOfPlane,     /* the node at a place in a plane's list */
} Through;

typedef struct {
  Through through;
  bool writes;
  int arrays;    /* 1, or 3 for the directions */
  size_t offset; /* of the first array's pointer in Fields */
} Access;

enum { kMostAccesses = 12 };

typedef struct {
  const char* name;
  Loop* loop;
  int axis;     /* the plane's axis, for loops over a plane's list */
  bool by_axis; /* the loop goes over its range once per direction */
  Access access[kMostAccesses + 1];
} LoopInfo;

/* The last entry has no name. */
extern const LoopInfo kLoops[];

/* NULL: it is not in the table, which is a mistake there. */
const LoopInfo* loop_info(Loop* loop);

#endif
