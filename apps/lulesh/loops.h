/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of one cycle in the order in which they run one after another. A loop works on the range [begin, end) of
 * its nodes, elements or places; ranges of one loop may run at the same time. The arrays that a loop reads and writes
 * are listed where it is defined (forces.c, motion.c, kinematics.c, viscosity.c, material.c, limits.c).
 */
#ifndef LULESH_LOOPS_H
#define LULESH_LOOPS_H

#include "fields.h"

typedef void Loop(Fields* fields, int32_t begin, int32_t end);

/* forces.c: over nodes (1, 4, 8) and elements; independent of the length of the step. */
Loop clear_forces, init_stress, stress_forces, gather_stress, check_determinant, hourglass_geometry, hourglass_forces,
    gather_hourglass;

/* motion.c: over nodes; the next three over a plane's list of nodes. */
Loop accelerate, hold_x, hold_y, hold_z, change_velocity, change_position;

/* kinematics.c: over elements. */
Loop kinematics, split_strain, gradients;

/* viscosity.c: over places in the regions' list; over elements. */
Loop region_viscosity, check_viscosity;

/* material.c: over elements. */
Loop copy_volume, clamp_low_volume, clamp_high_volume, check_volume, update_volume;
/* Over places in the regions' list. */
Loop pack_material, compress, compress_at_least, compress_at_most, clear_work, energy_half, pressure_half, bulk_half,
    viscosity_half, energy_work, bulk_full, pressure_full, energy_full, viscosity_full, store_material, sound_speed;

/* limits.c: over places in the regions' list. */
Loop courant_limit, hydro_limit;

/* limits.c: the length of the next step, and its number; `limit` is the least of all processes. Not in the first cycle:
 * it takes the step that fields_create has set. */
double step_limit(const Fields* fields);
void advance_time(Fields* fields, double limit);

#endif
