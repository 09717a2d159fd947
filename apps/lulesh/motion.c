/* SPDX-License-Identifier: Apache-2.0
 *
 * How nodes move.
 */
#include <math.h>

#include "constants.h"
#include "loops.h"

/* Reads force, node_mass. Writes acceleration. */
void accelerate(Fields* fields, int32_t begin, int32_t end) {
  const double* restrict mass = fields->node_mass;
  for (int a = 0; a < 3; ++a) {
    const double* restrict force = fields->force[a];
    double* restrict acceleration = fields->acceleration[a];
    for (int32_t node = begin; node < end; ++node) {
      acceleration[node] = force[node] / mass[node];
    }
  }
}

static void hold(Fields* fields, int axis, int32_t begin, int32_t end) {
  for (int32_t at = begin; at < end; ++at) {
    fields->acceleration[axis][fields->mesh->symmetry[axis][at]] = 0;
  }
}

/* Nodes of the planes of symmetry stay in them. Over a plane's list; write acceleration. */
void hold_x(Fields* fields, int32_t begin, int32_t end) { hold(fields, 0, begin, end); }
void hold_y(Fields* fields, int32_t begin, int32_t end) { hold(fields, 1, begin, end); }
void hold_z(Fields* fields, int32_t begin, int32_t end) { hold(fields, 2, begin, end); }

/* Reads acceleration, step. Changes velocity. */
void change_velocity(Fields* fields, int32_t begin, int32_t end) {
  double step = fields->step;
  for (int a = 0; a < 3; ++a) {
    const double* restrict acceleration = fields->acceleration[a];
    double* restrict velocity = fields->velocity[a];
    for (int32_t node = begin; node < end; ++node) {
      double value = velocity[node] + acceleration[node] * step;
      velocity[node] = fabs(value) < VELOCITY_CUT ? 0.0 : value;
    }
  }
}

/* Reads velocity, step. Changes position. */
void change_position(Fields* fields, int32_t begin, int32_t end) {
  double step = fields->step;
  for (int a = 0; a < 3; ++a) {
    const double* restrict velocity = fields->velocity[a];
    double* restrict position = fields->position[a];
    for (int32_t node = begin; node < end; ++node) {
      position[node] += velocity[node] * step;
    }
  }
}
