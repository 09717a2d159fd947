/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of one task: plain loops over the bodies of a block, without OpenMP or MPI calls. The caller orders
 * the accesses.
 */
#ifndef NBODY_KERNELS_H
#define NBODY_KERNELS_H

#include "block.h"

/* Floating-point operations of one interaction in kernel_forces: 3 for the distance vector, 6 for its softened square,
 * a square root, a division, 3 for the mass over the distance and over its cube, 1 for the potential, 6 for the
 * acceleration. A square root and a division count as one each, as usual for such figures. */
enum { kFlopsPerInteraction = 21 };

/* Adds to `force` the accelerations and potentials that the bodies of `sources` cause at the bodies of `targets`.
 * softening is the square of the length that is added to distances; it must be positive, as a body meets itself here.
 */
void kernel_forces(Block targets, Block sources, Block force, double softening);

/* The first half of a step: velocities by half a step, positions by a step; and force becomes 0. */
void kernel_drift(Block position, Block velocity, Block force, double dt);

/* The second half: velocities by half a step. */
void kernel_kick(Block velocity, Block force, double dt);

#endif
