/* SPDX-License-Identifier: Apache-2.0
 *
 * A finding: a deferred target region that is not complete maps a frame that its creator has left.
 */
#ifndef MARLINE_CHECK_LEFT_FRAME_H
#define MARLINE_CHECK_LEFT_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { kPlaceFrames = 8 };

/* Where a task is on its stack: the stack pointer of the program's innermost function, as the call into the runtime has
 * left it, and the return addresses from there on. */
typedef struct Place {
  uintptr_t pointer;
  int frames;
  void* stack[kPlaceFrames];
} Place;

typedef struct LeftFrame {
  uint64_t creator, task; /* of tasks.h */
  uintptr_t begin;        /* of what is mapped */
  size_t bytes;
  Place created, left; /* `left` has no frames where the creator has ended */
} LeftFrame;

#endif
