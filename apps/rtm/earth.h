/* SPDX-License-Identifier: Apache-2.0
 *
 * The earth: speeds, where its reflectors are, and the smooth model in which its records are migrated. Made by the main
 * thread; only read after that. Arrays have nz numbers for each of nx columns.
 */
#ifndef RTM_EARTH_H
#define RTM_EARTH_H

#include "failure.h"
#include "options.h"
#include "survey.h"

enum { kReflectors = 3 };

typedef struct {
  Survey survey;
  double step;    /* seconds */
  float* speeds;  /* metres per second */
  float* slow;    /* the smooth model's */
  float* truth;   /* what a wave travels in a step, in grid spacings, by the first */
  float* smooth;  /* and by the second */
  float* wavelet; /* of each step */
} Earth;

/* Notes a failure if there is not enough memory, if --time has too many steps, or if the grid does not carry the
 * source's waves. Destroy it in any case. */
void earth_create(Earth* earth, const Options* options, Failure* failure);
void earth_destroy(Earth* earth);

/* How many the model has. */
int earth_reflectors(const Options* options);

/* Depth of a reflector, in points from row 0, in this column: halfway between the last point above it and the first
 * below it. Reflectors go from top to bottom and may touch. */
double earth_depth(const Options* options, int reflector, int column);

/* Metres per second of what lies above a reflector, or under the last one (reflector = earth_reflectors). */
double earth_speed(const Options* options, int reflector);

#endif
