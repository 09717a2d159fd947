/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls the loops of each phase for a share.
 */
#include "phases.h"

/* These loops run as many times as the region's cost says. */
static Loop* const kMaterial[] = {
    pack_material, compress,      compress_at_least, compress_at_most, clear_work, energy_half,
    bulk_half,     pressure_half, viscosity_half,    energy_work,      bulk_full,  pressure_full,
    energy_full,   bulk_full,     pressure_full,     viscosity_full,
};
enum { kMaterialLoops = sizeof kMaterial / sizeof *kMaterial };

static void run(Fields* fields, Loop* loop, Range range) {
  if (range.begin >= range.end) {
    return;
  }
  if (fields->watch) {
    fields->watch->loop(fields->watch, fields, loop, range);
  } else {
    loop(fields, range.begin, range.end);
  }
}

static void run_parts(Fields* fields, Loop* loop, const Share* share) {
  for (int i = 0; i < share->parts; ++i) {
    run(fields, loop, share->part[i].places);
  }
}

void phase_forces(Fields* fields, const Share* share) {
  run(fields, init_stress, share->elements);
  run(fields, stress_forces, share->elements);
  run(fields, check_determinant, share->elements);
  run(fields, hourglass_geometry, share->elements);
  run(fields, hourglass_forces, share->elements);
}

void phase_gather(Fields* fields, const Share* share) {
  run(fields, clear_forces, share->nodes);
  run(fields, gather_stress, share->nodes);
  run(fields, gather_hourglass, share->nodes);
}

void phase_accelerate(Fields* fields, const Share* share) {
  run(fields, accelerate, share->nodes);
  run(fields, hold_x, share->plane[0]);
  run(fields, hold_y, share->plane[1]);
  run(fields, hold_z, share->plane[2]);
}

void phase_move(Fields* fields, const Share* share) {
  run(fields, change_velocity, share->nodes);
  run(fields, change_position, share->nodes);
}

void phase_kinematics(Fields* fields, const Share* share) {
  run(fields, kinematics, share->elements);
  run(fields, split_strain, share->elements);
  run(fields, gradients, share->elements);
}

void phase_viscosity(Fields* fields, const Share* share) {
  run_parts(fields, region_viscosity, share);
  run(fields, check_viscosity, share->elements);
  run(fields, copy_volume, share->elements);
  run(fields, clamp_low_volume, share->elements);
  run(fields, clamp_high_volume, share->elements);
  run(fields, check_volume, share->elements);
}

void phase_material(Fields* fields, const Share* share) {
  for (int i = 0; i < share->parts; ++i) {
    for (int time = 0; time < share->part[i].times; ++time) {
      for (int loop = 0; loop < kMaterialLoops; ++loop) {
        run(fields, kMaterial[loop], share->part[i].places);
      }
    }
  }
  run_parts(fields, store_material, share);
  run_parts(fields, sound_speed, share);
  run(fields, update_volume, share->elements);
  run_parts(fields, courant_limit, share);
  run_parts(fields, hydro_limit, share);
}
