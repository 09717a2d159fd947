/* SPDX-License-Identifier: Apache-2.0
 *
 * Gravity and leapfrog; see kernels.h. No state.
 */
#include "kernels.h"

#include <math.h>

/* One version per generation of vector units; the loader takes the best that the processor has. */
#if defined(__x86_64__)
#define NBODY_VECTOR_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NBODY_VECTOR_VERSIONS
#endif

NBODY_VECTOR_VERSIONS
void kernel_forces(Block targets, Block sources, Block force, double softening) {
  const double* restrict x = block_quantity(sources, 0), * restrict y = block_quantity(sources, 1);
  const double* restrict z = block_quantity(sources, 2), * restrict mass = block_quantity(sources, 3);
  for (int i = 0; i < targets.count; ++i) {
    double xi = block_quantity(targets, 0)[i], yi = block_quantity(targets, 1)[i], zi = block_quantity(targets, 2)[i];
    double ax = 0, ay = 0, az = 0, potential = 0;
#pragma omp simd aligned(x, y, z, mass : kCacheLine) reduction(+ : ax, ay, az, potential)
    for (int j = 0; j < sources.stride; ++j) {
      double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
      double inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening);
      double mass_by_distance = mass[j] * inverse;
      double mass_by_cube = mass_by_distance * (inverse * inverse);
      potential -= mass_by_distance;
      ax += dx * mass_by_cube;
      ay += dy * mass_by_cube;
      az += dz * mass_by_cube;
    }
    block_quantity(force, 0)[i] += ax;
    block_quantity(force, 1)[i] += ay;
    block_quantity(force, 2)[i] += az;
    block_quantity(force, 3)[i] += potential;
  }
}

void kernel_drift(Block position, Block velocity, Block force, double dt) {
  kernel_kick(velocity, force, dt);
  for (int axis = 0; axis < 3; ++axis) {
    double* restrict x = block_quantity(position, axis);
    const double* restrict v = block_quantity(velocity, axis);
    for (int i = 0; i < position.count; ++i) {
      x[i] += dt * v[i];
    }
  }
  block_clear(force);
}

void kernel_kick(Block velocity, Block force, double dt) {
  for (int axis = 0; axis < 3; ++axis) {
    double* restrict v = block_quantity(velocity, axis);
    const double* restrict a = block_quantity(force, axis);
    for (int i = 0; i < velocity.count; ++i) {
      v[i] += 0.5 * dt * a[i];
    }
  }
}
