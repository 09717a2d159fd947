/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the image shows the reflectors where the model has them. Pure functions.
 */
#ifndef RTM_VERIFY_H
#define RTM_VERIFY_H

#include "earth.h"
#include "failure.h"

/* Over the columns in the middle of the model, where shots light all reflectors from both sides. */
typedef struct {
  int places;       /* columns x reflectors that were looked at */
  double farthest;  /* metres from a reflector to its peak */
  double part;      /* the largest such distance as a part of the wavelength there */
  double strangers; /* the brightest place away from all reflectors, as a part of the faintest reflector's peak */
} Findings;

/* `image`: nz numbers for each of nx columns, finished. */
Findings verify_image(const Options* options, const float* image);

/* Notes a failure if a peak is not at its reflector, or if something else is as bright. */
void verify_judge(const Findings* findings, Failure* failure);

#endif
