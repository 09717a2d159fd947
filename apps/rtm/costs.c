/* SPDX-License-Identifier: Apache-2.0
 *
 * See costs.h.
 */
#include "costs.h"

#include <math.h>

#include "shot.h"
#include "stack.h"

/* On the host, all parts of the image are the stack's. */
static double bytes_of(const Survey* survey, Form form, int shot) {
  const size_t part = form == kFormTarget ? stack_part_size(survey, shot) * sizeof(float) : 0;
  return (double)(shot_bytes(survey, shot) + part);
}

Costs costs_of(const Survey* survey, Form form) {
  Costs costs = {0};
  for (int shot = 0; shot < survey->shots; ++shot) {
    const double work = survey_work(survey, shot);
    costs.all += work;
    costs.largest = fmax(costs.largest, work);
    costs.bytes = fmax(costs.bytes, bytes_of(survey, form, shot));
  }
  return costs;
}
