/* SPDX-License-Identifier: Apache-2.0
 *
 * A finding: a deferred target region that is not complete maps a frame that its creator has left.
 */
#ifndef MARLINE_CHECK_LEFT_FRAME_H
#define MARLINE_CHECK_LEFT_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { kPlaceFrames = 8 };

/* Where a task is on its stack: the stack pointer of the program's innermost function at its call into the runtime,
 * and the return addresses from there on. */
typedef struct Place {
  uintptr_t pointer;
  int frames;
  void* stack[kPlaceFrames];
} Place;

typedef struct LeftFrame {
  uint64_t creator, task; /* numbers of tasks.h */
  uintptr_t begin;        /* begin of the mapped memory */
  size_t bytes;
  Place created, left; /* `left` has no frames if the creator has ended */
} LeftFrame;

#endif
