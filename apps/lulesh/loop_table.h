/* SPDX-License-Identifier: Apache-2.0
 *
 * All loops of a cycle: their names, and which arrays they read and write by which index. What measurements know of the
 * loops (loop_times.c, footprint.c); the loops themselves do not use it. Constant.
 */
#ifndef LULESH_LOOP_TABLE_H
#define LULESH_LOOP_TABLE_H

#include <stddef.h>

#include "loops.h"

/* How a loop comes from its index to an array's. */
typedef enum {
  kNothing,     /* behind the last access of a loop */
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
  int axis;     /* of the loops over a plane's list */
  bool by_axis; /* goes over its range once per direction */
  Access access[kMostAccesses + 1];
} LoopInfo;

/* Ends with one without a name. */
extern const LoopInfo kLoops[];

/* NULL: it is not in the table, which is a mistake there. */
const LoopInfo* loop_info(Loop* loop);

#endif
