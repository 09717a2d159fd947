/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers that can be entered anywhere, so that each lookup draws its own whatever device makes it. The
 * generator and its constants are XSBench's: s -> a s + 1 modulo 2^63. No state but the caller's.
 */
#ifndef XSBENCH_RANDOM_H
#define XSBENCH_RANDOM_H

#include <stdint.h>

#pragma omp declare target

static const uint64_t kRandomFactor = 2806196910506780709u;
static const uint64_t kRandomMask = ((uint64_t)1 << 63) - 1;

/* The next number, from 0 to 1. */
static inline double random_next(uint64_t* state) {
  *state = (kRandomFactor * *state + 1) & kRandomMask;
  return (double)*state * 0x1p-63;
}

/* The state `steps` numbers later. 2^k steps are a step with another factor and another summand, so a step of each
 * binary digit is enough (Brown, Random number generation with arbitrary strides, 1994). */
static inline uint64_t random_skip(uint64_t state, uint64_t steps) {
  uint64_t factor = kRandomFactor, summand = 1;
  for (; steps != 0; steps >>= 1) {
    if (steps & 1) {
      state = factor * state + summand;
    }
    summand *= factor + 1;
    factor *= factor;
  }
  return state & kRandomMask;
}

#pragma omp end declare target

#endif
