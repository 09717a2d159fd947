/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels do under --sleep: they take their time without a processor, so that a machine of few cores can play many
 * devices. A GPU has no such function; there they return at once.
 */
#ifndef MINIMOD_REST_H
#define MINIMOD_REST_H

#include <unistd.h>

#include "options.h"
#include "shape.h"
#include "turn.h"

/* Microseconds of a part: its share of the slab's time. */
static inline unsigned rest_time(const Options* options, const Shape* shape, int planes) {
  return (unsigned)(1000 * options->sleep * planes / shape->nx);
}

#pragma omp declare target
static inline void rest_sleep(unsigned microseconds, int device) {
#if defined(__NVPTX__) || defined(__AMDGCN__)
  (void)microseconds;
  (void)device;
#else
  turn_begin(device);
  usleep(microseconds);
  turn_end(device);
#endif
}
#pragma omp end declare target

#endif
