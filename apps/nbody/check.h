/* SPDX-License-Identifier: Apache-2.0
 *
 * How a run judges its own result: by what gravity conserves, always, and by a serial simulation, on request. All
 * functions are collective and called by the main thread outside of parallel regions; the answers are the same on all
 * processes.
 */
#ifndef NBODY_CHECK_H
#define NBODY_CHECK_H

#include "bodies.h"

/* Sums over all bodies of all processes. */
typedef struct {
  double kinetic;
  double potential;
  double momentum[3];
  double motion;   /* of mass x speed: the scale of the momentum's rounding errors */
  double checksum; /* of all coordinates and velocities, each body weighted by its number */
} Totals;

/* The state's sums. The caller must have computed the forces from the current positions. softening is a length. */
Totals check_totals(const Bodies* bodies, double softening);

/* How far the momentum is from where it was, and how far rounding can bring it: the sum of n forces on a body has a
 * relative error of n eps at most (to first order), and a step has two kicks; two more for the sums themselves. */
double check_momentum_change(const Totals* before, const Totals* after);
double check_momentum_tolerance(const Totals* after, int bodies, int steps);

/* The change of the energy as a part of kinetic plus absolute potential energy, and the tolerance. Leapfrog's energy
 * error does not grow: it swings within a part of order (w dt)^2 / 8 for the highest frequency w of the system. The
 * softening (check_softening) keeps w near 1, so the tolerance is dt^2; n eps is for rounding. */
double check_energy_drift(const Totals* before, const Totals* after);
double check_energy_tolerance(int bodies, double dt);

/* The mean distance of neighbours, n^(-1/3) in the cluster's unit. A close pair then swings no faster than the cluster
 * as a whole, and one dt serves any number of bodies. */
double check_softening(int bodies);

/* The largest difference, in a coordinate or a velocity, between the bodies and a serial simulation from the start.
 * Each process makes the whole of it and compares its own bodies. Negative if memory does not suffice on some process.
 * */
double check_difference(const Bodies* bodies, long long seed, double softening, double dt, int steps);

/* What check_difference may be: rounding, n eps at most (to first order) for the few thousand bodies that one verifies,
 * and little growth in the short time that options.c admits. One pair left out of one step of the default length shows
 * more: it changes a velocity by dt * mass / distance^2, above 1e-9 for 4096 bodies. */
static const double kLargestDifference = 1e-12;

#endif
