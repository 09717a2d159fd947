/* SPDX-License-Identifier: Apache-2.0
 *
 * The length of the next step: how far sound travels in it, and how much volumes change.
 */
#include <math.h>

#include "constants.h"
#include "loops.h"

/* Over places in the regions' list. Reads sound, volume_rate, length. Lowers courant. */
void courant_limit(Fields* fields, int32_t begin, int32_t end) {
  double least = NO_LIMIT;
  for (int32_t at = begin; at < end; ++at) {
    int32_t element = fields->regions->element[at];
    double rate = fields->volume_rate[element], length = fields->length[element], sound = fields->sound[element];
    double square = sound * sound + (rate < 0 ? COURANT * length * length * rate * rate : 0.0);
    least = rate != 0 ? fmin(least, length / sqrt(square)) : least;
  }
  fields_lower(&fields->courant, least);
}

/* Over places in the regions' list. Reads volume_rate. Lowers hydro. */
void hydro_limit(Fields* fields, int32_t begin, int32_t end) {
  double least = NO_LIMIT;
  for (int32_t at = begin; at < end; ++at) {
    double rate = fields->volume_rate[fields->regions->element[at]];
    least = rate != 0 ? fmin(least, MOST_VOLUME_CHANGE / (fabs(rate) + 1e-20)) : least;
  }
  fields_lower(&fields->hydro, least);
}

double step_limit(const Fields* fields) {
  double limit = NO_LIMIT;
  if (fields->courant < limit) {
    limit = fields->courant / 2.0;
  }
  if (fields->hydro < limit) {
    limit = fields->hydro * 2.0 / 3.0;
  }
  return limit;
}

/* A step grows little or not at all, and by a fifth at most. */
static double grown(double before, double limit) {
  double ratio = limit / before;
  if (ratio >= 1.0 && ratio < LEAST_GROWTH) {
    limit = before;
  } else if (ratio > MOST_GROWTH) {
    limit = before * MOST_GROWTH;
  }
  return fmin(limit, LONGEST_STEP);
}

/* Divides the time that is left so that no tiny last step remains. */
void advance_time(Fields* fields, double limit) {
  double remaining = STOP_TIME - fields->time;
  if (fields->cycle > 0) {
    fields->step = grown(fields->step, limit);
  }
  if (remaining > fields->step && remaining < 4.0 * fields->step / 3.0) {
    remaining = 2.0 * fields->step / 3.0;
  }
  if (remaining < fields->step) {
    fields->step = remaining;
  }
  fields->time += fields->step;
  ++fields->cycle;
  fields->courant = fields->hydro = NO_LIMIT;
}
