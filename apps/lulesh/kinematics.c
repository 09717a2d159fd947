/* SPDX-License-Identifier: Apache-2.0
 *
 * How elements change with the motion of their nodes.
 */
#include <math.h>

#include "constants.h"
#include "geometry.h"
#include "loops.h"

/* The rates of strain along x, y, z in the middle of the step. */
static void strain_rates(Corners at, const Corners velocity, double half_step, double rate[3]) {
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < kCorners; ++k) {
      at[a][k] -= half_step * velocity[a][k];
    }
  }
  double derivative[3][4];
  double inverse = 1.0 / shape_derivatives(at, derivative);
  for (int a = 0; a < 3; ++a) {
    const double *v = velocity[a], *d = derivative[a];
    rate[a] = inverse * (d[0] * (v[0] - v[6]) + d[1] * (v[1] - v[7]) + d[2] * (v[2] - v[4]) + d[3] * (v[3] - v[5]));
  }
}

/* Reads position, velocity by node, first_volume, volume, step. Writes new_volume, volume_change, length, strain. */
void kinematics(Fields* fields, int32_t begin, int32_t end) {
  const Mesh* mesh = fields->mesh;
  for (int32_t element = begin; element < end; ++element) {
    Corners at, velocity;
    double rate[3];
    gather(mesh->node[element], fields->position, at);
    gather(mesh->node[element], fields->velocity, velocity);
    double volume = hexahedron_volume(at);
    fields->new_volume[element] = volume / fields->first_volume[element];
    fields->volume_change[element] = fields->new_volume[element] - fields->volume[element];
    fields->length[element] = characteristic_length(at, volume);
    strain_rates(at, velocity, 0.5 * fields->step, rate);
    for (int a = 0; a < 3; ++a) {
      fields->strain[a][element] = rate[a];
    }
  }
}

/* Reads strain, new_volume. Writes volume_rate, and strain without the volume_rate. */
void split_strain(Fields* fields, int32_t begin, int32_t end) {
  int bad = 0;
  for (int32_t element = begin; element < end; ++element) {
    double rate = fields->strain[0][element] + fields->strain[1][element] + fields->strain[2][element];
    fields->volume_rate[element] = rate;
    for (int a = 0; a < 3; ++a) {
      fields->strain[a][element] -= rate / 3.0;
    }
    bad |= !(fields->new_volume[element] > 0);
  }
  if (bad) {
    fields_fail(fields, kBadVolume);
  }
}

/* The difference of a quantity's averages over two opposite faces. */
static Vector face_to_face(const Corners of, const int* to, const int* from) {
  double part[3];
  for (int a = 0; a < 3; ++a) {
    const double* v = of[a];
    part[a] =
        0.25 * ((v[to[0]] + v[to[1]] + v[to[2]] + v[to[3]]) - (v[from[0]] + v[from[1]] + v[from[2]] + v[from[3]]));
  }
  return (Vector){part[0], part[1], part[2]};
}

static const int kTo[3][4] = {{1, 2, 6, 5}, {3, 2, 6, 7}, {4, 5, 6, 7}};
static const int kFrom[3][4] = {{0, 3, 7, 4}, {0, 1, 5, 4}, {0, 1, 2, 3}};

/* Reads position, velocity by node, first_volume, new_volume. Writes spacing, gradient. */
void gradients(Fields* fields, int32_t begin, int32_t end) {
  const Mesh* mesh = fields->mesh;
  for (int32_t element = begin; element < end; ++element) {
    Corners at, velocity;
    gather(mesh->node[element], fields->position, at);
    gather(mesh->node[element], fields->velocity, velocity);
    double volume = fields->first_volume[element] * fields->new_volume[element];
    double inverse = 1.0 / (volume + TINY);
    Vector edge[3];
    for (int axis = 0; axis < 3; ++axis) {
      edge[axis] = face_to_face(at, kTo[axis], kFrom[axis]);
    }
    for (int axis = 0; axis < 3; ++axis) {
      Vector area = vector_cross(edge[(axis + 1) % 3], edge[(axis + 2) % 3]);
      Vector change = face_to_face(velocity, kTo[axis], kFrom[axis]);
      fields->spacing[axis][element] = volume / sqrt(vector_dot(area, area) + TINY);
      fields->gradient[axis][element] = vector_dot(vector_scaled(inverse, area), change);
    }
  }
}
