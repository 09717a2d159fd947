/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shots of a survey cost. Pure functions.
 */
#ifndef RTM_COSTS_H
#define RTM_COSTS_H

#include "options.h"
#include "survey.h"

typedef struct {
  double all, largest; /* points that shots compute: the sum, and the most that one has */
  double bytes;        /* of the shot that takes most where it runs; on a device, with its part of the image */
} Costs;

Costs costs_of(const Survey* survey, Form form);

#endif
