/* SPDX-License-Identifier: Apache-2.0
 *
 * The forces on nodes, from the stress in the elements around them and against the hourglass modes of these elements.
 * No force depends on the length of the step. Forces of corners are written by element and gathered by node, in the
 * order of the node's list: the sums do not depend on which thread computes which range.
 */
#include <math.h>

#include "constants.h"
#include "geometry.h"
#include "loops.h"

/* Writes force. */
void clear_forces(Fields* fields, int32_t begin, int32_t end) {
  for (int a = 0; a < 3; ++a) {
    double* restrict force = fields->force[a];
    for (int32_t node = begin; node < end; ++node) {
      force[node] = 0;
    }
  }
}

/* Reads pressure, viscosity. Writes stress. */
void init_stress(Fields* fields, int32_t begin, int32_t end) {
  const double* restrict pressure = fields->pressure, * restrict viscosity = fields->viscosity;
  for (int a = 0; a < 3; ++a) {
    double* restrict stress = fields->stress[a];
    for (int32_t element = begin; element < end; ++element) {
      stress[element] = -pressure[element] - viscosity[element];
    }
  }
}

/* Reads position by node, stress. Writes determinant, corner_force. */
void stress_forces(Fields* fields, int32_t begin, int32_t end) {
  const Mesh* mesh = fields->mesh;
  for (int32_t element = begin; element < end; ++element) {
    Corners at, normal;
    double unused[3][4];
    gather(mesh->node[element], fields->position, at);
    fields->determinant[element] = shape_derivatives(at, unused);
    corner_normals(at, normal);
    for (int a = 0; a < 3; ++a) {
      double stress = -fields->stress[a][element];
      double* restrict force = &fields->corner_force[a][(int64_t)kCorners * element];
      for (int k = 0; k < kCorners; ++k) {
        force[k] = stress * normal[a][k];
      }
    }
  }
}

static double sum_of_corners(const Mesh* mesh, const double* corner_force, int32_t node) {
  double sum = 0;
  for (int64_t at = mesh->first_corner[node]; at < mesh->first_corner[node + 1]; ++at) {
    sum += corner_force[mesh->corner[at]];
  }
  return sum;
}

/* Reads corner_force by node. Writes force. */
void gather_stress(Fields* fields, int32_t begin, int32_t end) {
  for (int32_t node = begin; node < end; ++node) {
    for (int a = 0; a < 3; ++a) {
      fields->force[a][node] = sum_of_corners(fields->mesh, fields->corner_force[a], node);
    }
  }
}

/* Reads determinant. */
void check_determinant(Fields* fields, int32_t begin, int32_t end) {
  int bad = 0;
  for (int32_t element = begin; element < end; ++element) {
    bad |= !(fields->determinant[element] > 0);
  }
  if (bad) {
    fields_fail(fields, kBadVolume);
  }
}

/* Reads position by node, first_volume, volume. Writes corner_derivative, corner_position, determinant, which is the
 * volume from here on. */
void hourglass_geometry(Fields* fields, int32_t begin, int32_t end) {
  const Mesh* mesh = fields->mesh;
  int bad = 0;
  for (int32_t element = begin; element < end; ++element) {
    Corners at, derivative;
    gather(mesh->node[element], fields->position, at);
    volume_derivatives(at, derivative);
    int64_t first = (int64_t)kCorners * element;
    for (int a = 0; a < 3; ++a) {
      for (int k = 0; k < kCorners; ++k) {
        fields->corner_derivative[a][first + k] = derivative[a][k];
        fields->corner_position[a][first + k] = at[a][k];
      }
    }
    fields->determinant[element] = fields->first_volume[element] * fields->volume[element];
    bad |= !(fields->volume[element] > 0);
  }
  if (bad) {
    fields_fail(fields, kBadVolume);
  }
}

/* The four modes in which an element can change its shape without strain in its middle. */
static const double kModes[4][kCorners] = {{1, 1, -1, -1, -1, -1, 1, 1},
                                           {1, -1, -1, 1, -1, 1, 1, -1},
                                           {1, -1, 1, -1, 1, -1, 1, -1},
                                           {-1, 1, -1, 1, 1, -1, 1, -1}};

/* The modes without the part that a linear field has. */
static void hourglass_modes(const Fields* fields, int64_t first, double volume, double mode[4][kCorners]) {
  double inverse = 1.0 / volume;
  for (int m = 0; m < 4; ++m) {
    double part[3] = {0, 0, 0};
    for (int a = 0; a < 3; ++a) {
      const double* position = &fields->corner_position[a][first];
      for (int k = 0; k < kCorners; ++k) {
        part[a] += kModes[m][k] * position[k];
      }
    }
    for (int k = 0; k < kCorners; ++k) {
      mode[m][k] = kModes[m][k] - inverse * (fields->corner_derivative[0][first + k] * part[0] +
                                             fields->corner_derivative[1][first + k] * part[1] +
                                             fields->corner_derivative[2][first + k] * part[2]);
    }
  }
}

/* Reads determinant, corner_derivative, corner_position, sound, mass, velocity by node. Writes hourglass_force. */
void hourglass_forces(Fields* fields, int32_t begin, int32_t end) {
  const Mesh* mesh = fields->mesh;
  for (int32_t element = begin; element < end; ++element) {
    int64_t first = (int64_t)kCorners * element;
    double mode[4][kCorners], volume = fields->determinant[element];
    Corners velocity;
    gather(mesh->node[element], fields->velocity, velocity);
    hourglass_modes(fields, first, volume, mode);
    double factor = -HOURGLASS * 0.01 * fields->sound[element] * fields->mass[element] / cbrt(volume);
    for (int a = 0; a < 3; ++a) {
      double speed[4] = {0, 0, 0, 0};
      for (int m = 0; m < 4; ++m) {
        for (int k = 0; k < kCorners; ++k) {
          speed[m] += mode[m][k] * velocity[a][k];
        }
      }
      double* restrict force = &fields->hourglass_force[a][first];
      for (int k = 0; k < kCorners; ++k) {
        force[k] =
            factor * (mode[0][k] * speed[0] + mode[1][k] * speed[1] + mode[2][k] * speed[2] + mode[3][k] * speed[3]);
      }
    }
  }
}

/* Reads hourglass_force by node. Changes force. */
void gather_hourglass(Fields* fields, int32_t begin, int32_t end) {
  for (int32_t node = begin; node < end; ++node) {
    for (int a = 0; a < 3; ++a) {
      fields->force[a][node] += sum_of_corners(fields->mesh, fields->hourglass_force[a], node);
    }
  }
}
