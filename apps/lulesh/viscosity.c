/* SPDX-License-Identifier: Apache-2.0
 *
 * The artificial viscosity of elements that are compressed, limited where the velocity changes smoothly.
 */
#include <math.h>

#include "constants.h"
#include "loops.h"

/* The gradient beyond a face, as the limiter uses it. */
static double beyond_face(const Mesh* mesh, const double* gradient, int32_t element, int face) {
  switch (mesh->beyond[element][face]) {
    case kSymmetry: return gradient[element];
    case kFree: return 0;
    default: return gradient[mesh->neighbour[element][face]];
  }
}

static double smoothness(const Mesh* mesh, const double* gradient, int32_t element, int axis) {
  double scale = 1.0 / (gradient[element] + TINY);
  double low = scale * beyond_face(mesh, gradient, element, 2 * axis);
  double high = scale * beyond_face(mesh, gradient, element, 2 * axis + 1);
  double phi = 0.5 * (low + high);
  phi = fmin(phi, LIMITER * low);
  phi = fmin(phi, LIMITER * high);
  return fmin(fmax(phi, 0.0), MOST_SLOPE);
}

/* Over places in the regions' list. Reads gradient of the element and its neighbours, spacing, volume_rate, mass,
 * first_volume, new_volume. Writes linear, quadratic. */
void region_viscosity(Fields* fields, int32_t begin, int32_t end) {
  const Mesh* mesh = fields->mesh;
  for (int32_t at = begin; at < end; ++at) {
    int32_t element = fields->regions->element[at];
    double linear = 0, quadratic = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double phi = smoothness(mesh, fields->gradient[axis], element, axis);
      double z = fmin(fields->gradient[axis][element] * fields->spacing[axis][element], 0.0);
      linear += z * (1.0 - phi);
      quadratic += z * z * (1.0 - phi * phi);
    }
    double density = fields->mass[element] / (fields->first_volume[element] * fields->new_volume[element]);
    int grows = fields->volume_rate[element] > 0;
    fields->linear[element] = grows ? 0.0 : -LINEAR * density * linear;
    fields->quadratic[element] = grows ? 0.0 : QUADRATIC * density * quadratic;
  }
}

/* Reads viscosity, of the previous cycle. */
void check_viscosity(Fields* fields, int32_t begin, int32_t end) {
  int bad = 0;
  for (int32_t element = begin; element < end; ++element) {
    bad |= fields->viscosity[element] > VISCOSITY_STOP;
  }
  if (bad) {
    fields_fail(fields, kTooViscous);
  }
}
