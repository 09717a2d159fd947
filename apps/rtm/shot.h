/* SPDX-License-Identifier: Apache-2.0
 *
 * One shot, from the model to its part of the image. Runs on the host or within a target region; calls for different
 * shots may run at the same time. All memory that it needs lives during the call only.
 */
#ifndef RTM_SHOT_H
#define RTM_SHOT_H

#include <stddef.h>

#include "survey.h"

/* What a shot tells beside its image. */
typedef struct {
  int failed;  /* 1: not enough memory */
  int threads; /* that shared it */
  double rest; /* what is left of the source's wave when it has gone back to its beginning, which was silence: the root
                  mean square over the window, as a part of that at all times */
} Outcome;

#pragma omp declare target

/* Bytes that shot_migrate takes while it runs. */
size_t shot_bytes(const Survey* survey, int shot);

/* Models what the receivers of a shot hear, and migrates it.
 *   truth, smooth: of each point of the model, column by column, what a wave travels in a time step, in grid spacings;
 *     `truth` is the earth, `smooth` what is known of it;
 *   wavelet: the source in each time step;
 *   threads: how many share the shot's columns;
 *   image: columns x nz numbers of the window, then as many for the light: the source's wave squared. Both are sums
 * over time, and are overwritten. */
void shot_migrate(const Survey* survey, const float* truth, const float* smooth, const float* wavelet, int shot,
                  int threads, float* image, Outcome* outcome);

#pragma omp end declare target

#endif
