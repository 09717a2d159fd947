/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of send times. Any thread.
 */
#ifndef MARLINE_DELAY_NOW_H
#define MARLINE_DELAY_NOW_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC, which all processes of a node share. */
static inline int64_t delay_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
