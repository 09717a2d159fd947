/* SPDX-License-Identifier: Apache-2.0
 *
 * The constants of the Sedov problem as LULESH 2.0 states it: one octant of an ideal gas at rest, all energy in the
 * element at the origin.
 */
#ifndef LULESH_CONSTANTS_H
#define LULESH_CONSTANTS_H

#define EDGE_LENGTH 1.125        /* of the cube */
#define ENERGY_AT_45 3.948746e+7 /* energy in the origin's element, for 45 elements per edge of the whole cube */
#define STOP_TIME 1e-2

/* Values nearer to zero than these are set to zero; relative volumes nearer to one, to one. */
#define ENERGY_CUT 1e-7
#define PRESSURE_CUT 1e-7
#define VISCOSITY_CUT 1e-7
#define VELOCITY_CUT 1e-7
#define VOLUME_CUT 1e-10

#define HOURGLASS 3.0
#define VISCOSITY_STOP 1e+12 /* the largest artificial viscosity */

/* Artificial viscosity: the limiter of slopes, the linear and the quadratic part. */
#define MOST_SLOPE 1.0
#define LIMITER 2.0
#define LINEAR 0.5
#define QUADRATIC (2.0 / 3.0)
#define TINY 1e-36

/* Equation of state. */
#define LEAST_VOLUME 1e-9
#define MOST_VOLUME 1e+9
#define LEAST_PRESSURE 0.0
#define LEAST_ENERGY (-1e+15)
#define REFERENCE_DENSITY 1.0

/* Length of a step. */
#define COURANT (64.0 * 2.0 * 2.0) /* 64 qqc^2 */
#define MOST_VOLUME_CHANGE 0.1
#define LONGEST_STEP 1e-2
#define LEAST_GROWTH 1.1
#define MOST_GROWTH 1.2
#define NO_LIMIT 1e+20

#endif
