/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the loops and their accesses. A loop that reads and writes an array by the same index has one access,
 * which writes. Accesses that are made under conditions which hold nowhere in a run of sound size (compress_at_least,
 * compress_at_most) are left out.
 */
#include "loop_table.h"

#define ONE(array) 1, offsetof(Fields, array)
#define ALL(array) 3, offsetof(Fields, array)
#define READ(through, which) {through, false, which}
#define WRITE(through, which) {through, true, which}
#define LOOP(name) #name, name

/* Of the equation of state, by place. */
#define IN(array) READ(kSame, ONE(material.array))
#define OUT(array) WRITE(kSame, ONE(material.array))
#define CLAMPED READ(kOfPlace, ONE(clamped_volume))
#define VISCOSITY IN(new_energy), IN(linear), IN(quadratic), IN(bulk), IN(slope)

const LoopInfo kLoops[] = {
    {LOOP(clear_forces), 0, true, {WRITE(kSame, ALL(force))}},
    {LOOP(init_stress), 0, true, {READ(kSame, ONE(pressure)), READ(kSame, ONE(viscosity)), WRITE(kSame, ALL(stress))}},
    {LOOP(stress_forces),
     0,
     false,
     {READ(kItsNodes, ALL(position)), READ(kSame, ALL(stress)), WRITE(kSame, ONE(determinant)),
      WRITE(kOwnCorners, ALL(corner_force))}},
    {LOOP(gather_stress), 0, false, {READ(kItsCorners, ALL(corner_force)), WRITE(kSame, ALL(force))}},
    {LOOP(check_determinant), 0, false, {READ(kSame, ONE(determinant))}},
    {LOOP(hourglass_geometry),
     0,
     false,
     {READ(kItsNodes, ALL(position)), WRITE(kOwnCorners, ALL(corner_derivative)),
      WRITE(kOwnCorners, ALL(corner_position)), READ(kSame, ONE(first_volume)), READ(kSame, ONE(volume)),
      WRITE(kSame, ONE(determinant))}},
    {LOOP(hourglass_forces),
     0,
     false,
     {READ(kSame, ONE(determinant)), READ(kItsNodes, ALL(velocity)), READ(kOwnCorners, ALL(corner_position)),
      READ(kOwnCorners, ALL(corner_derivative)), READ(kSame, ONE(sound)), READ(kSame, ONE(mass)),
      WRITE(kOwnCorners, ALL(hourglass_force))}},
    {LOOP(gather_hourglass), 0, false, {READ(kItsCorners, ALL(hourglass_force)), WRITE(kSame, ALL(force))}},

    {LOOP(accelerate),
     0,
     true,
     {READ(kSame, ALL(force)), READ(kSame, ONE(node_mass)), WRITE(kSame, ALL(acceleration))}},
    {LOOP(hold_x), 0, false, {WRITE(kOfPlane, ONE(acceleration[0]))}},
    {LOOP(hold_y), 1, false, {WRITE(kOfPlane, ONE(acceleration[1]))}},
    {LOOP(hold_z), 2, false, {WRITE(kOfPlane, ONE(acceleration[2]))}},
    {LOOP(change_velocity), 0, true, {READ(kSame, ALL(acceleration)), WRITE(kSame, ALL(velocity))}},
    {LOOP(change_position), 0, true, {READ(kSame, ALL(velocity)), WRITE(kSame, ALL(position))}},

    {LOOP(kinematics),
     0,
     false,
     {READ(kItsNodes, ALL(position)), READ(kItsNodes, ALL(velocity)), READ(kSame, ONE(first_volume)),
      WRITE(kSame, ONE(new_volume)), READ(kSame, ONE(volume)), WRITE(kSame, ONE(volume_change)),
      WRITE(kSame, ONE(length)), WRITE(kSame, ALL(strain))}},
    {LOOP(split_strain),
     0,
     false,
     {WRITE(kSame, ALL(strain)), WRITE(kSame, ONE(volume_rate)), READ(kSame, ONE(new_volume))}},
    {LOOP(gradients),
     0,
     false,
     {READ(kItsNodes, ALL(position)), READ(kItsNodes, ALL(velocity)), READ(kSame, ONE(first_volume)),
      READ(kSame, ONE(new_volume)), WRITE(kSame, ALL(spacing)), WRITE(kSame, ALL(gradient))}},

    {LOOP(region_viscosity),
     0,
     false,
     {READ(kOfPlace, ALL(gradient)), READ(kBeyondFaces, ALL(gradient)), READ(kOfPlace, ALL(spacing)),
      READ(kOfPlace, ONE(mass)), READ(kOfPlace, ONE(first_volume)), READ(kOfPlace, ONE(new_volume)),
      READ(kOfPlace, ONE(volume_rate)), WRITE(kOfPlace, ONE(linear)), WRITE(kOfPlace, ONE(quadratic))}},
    {LOOP(check_viscosity), 0, false, {READ(kSame, ONE(viscosity))}},
    {LOOP(copy_volume), 0, false, {READ(kSame, ONE(new_volume)), WRITE(kSame, ONE(clamped_volume))}},
    {LOOP(clamp_low_volume), 0, false, {WRITE(kSame, ONE(clamped_volume))}},
    {LOOP(clamp_high_volume), 0, false, {WRITE(kSame, ONE(clamped_volume))}},
    {LOOP(check_volume), 0, false, {READ(kSame, ONE(volume))}},
    {LOOP(update_volume), 0, false, {READ(kSame, ONE(new_volume)), WRITE(kSame, ONE(volume))}},

    {LOOP(pack_material),
     0,
     false,
     {READ(kOfPlace, ONE(energy)), READ(kOfPlace, ONE(pressure)), READ(kOfPlace, ONE(viscosity)),
      READ(kOfPlace, ONE(linear)), READ(kOfPlace, ONE(quadratic)), READ(kOfPlace, ONE(volume_change)), OUT(energy),
      OUT(pressure), OUT(viscosity), OUT(linear), OUT(quadratic), OUT(change)}},
    {LOOP(compress), 0, false, {CLAMPED, OUT(compression), IN(change), OUT(half_compression)}},
    {LOOP(compress_at_least), 0, false, {CLAMPED}},
    {LOOP(compress_at_most), 0, false, {CLAMPED}},
    {LOOP(clear_work), 0, false, {OUT(work)}},
    {LOOP(energy_half), 0, false, {IN(energy), IN(change), IN(pressure), IN(viscosity), IN(work), OUT(new_energy)}},
    {LOOP(bulk_half), 0, false, {IN(half_compression), OUT(bulk), OUT(slope)}},
    {LOOP(pressure_half), 0, false, {IN(bulk), IN(new_energy), CLAMPED, OUT(half_pressure)}},
    {LOOP(viscosity_half),
     0,
     false,
     {IN(half_compression), IN(half_pressure), IN(linear), IN(quadratic), IN(bulk), IN(slope), IN(change),
      OUT(new_viscosity), OUT(new_energy), IN(pressure), IN(viscosity)}},
    {LOOP(energy_work), 0, false, {OUT(new_energy), IN(work)}},
    {LOOP(bulk_full), 0, false, {IN(compression), OUT(bulk), OUT(slope)}},
    {LOOP(pressure_full), 0, false, {IN(bulk), IN(new_energy), CLAMPED, OUT(new_pressure)}},
    {LOOP(energy_full),
     0,
     false,
     {IN(new_pressure), CLAMPED, IN(linear), IN(quadratic), IN(bulk), IN(slope), IN(change), IN(pressure),
      IN(viscosity), IN(half_pressure), IN(new_viscosity), OUT(new_energy)}},
    {LOOP(viscosity_full), 0, false, {IN(new_pressure), CLAMPED, VISCOSITY, IN(change), OUT(new_viscosity)}},
    {LOOP(store_material),
     0,
     false,
     {IN(new_pressure), IN(new_energy), IN(new_viscosity), WRITE(kOfPlace, ONE(pressure)), WRITE(kOfPlace, ONE(energy)),
      WRITE(kOfPlace, ONE(viscosity))}},
    {LOOP(sound_speed),
     0,
     false,
     {CLAMPED, IN(new_energy), IN(new_pressure), IN(bulk), IN(slope), WRITE(kOfPlace, ONE(sound))}},
    {LOOP(courant_limit),
     0,
     false,
     {READ(kOfPlace, ONE(volume_rate)), READ(kOfPlace, ONE(length)), READ(kOfPlace, ONE(sound))}},
    {LOOP(hydro_limit), 0, false, {READ(kOfPlace, ONE(volume_rate))}},
    {NULL, NULL, 0, false, {{kNothing, false, 0, 0}}},
};

const LoopInfo* loop_info(Loop* loop) {
  const LoopInfo* info = kLoops;
  while (info->name && info->loop != loop) {
    ++info;
  }
  return info->name ? info : NULL;
}
