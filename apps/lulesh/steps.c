/* SPDX-License-Identifier: Apache-2.0
 *
 * The forms `serial` and `for`: loop after loop, each shared out among the threads in equal ranges.
 */
#include <mpi.h>
#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "constants.h"
#include "forms.h"
#include "loops.h"

typedef enum { kNodes, kElements, kPlaneX, kPlaneY, kPlaneZ, kRegions } Over;

/* A loop, and whether all threads must have come to it before it begins: it reads what others have written, or writes
 * what they read. Else the range of a thread depends on its own ranges only. */
typedef struct {
  Loop *run;
  Over over;
  bool together;
} Step;

static const Step kForces[] = {
    {clear_forces, kNodes, false},       {init_stress, kElements, false},        {stress_forces, kElements, false},
    {gather_stress, kNodes, true},       {check_determinant, kElements, false},  {hourglass_geometry, kElements, false},
    {hourglass_forces, kElements, true}, {gather_hourglass, kNodes, true},
};

static const Step kMotion[] = {
    {accelerate, kNodes, false}, {hold_x, kPlaneX, true},       {hold_y, kPlaneY, false},
    {hold_z, kPlaneZ, false},    {change_velocity, kNodes, true}, {change_position, kNodes, false},
};

static const Step kElementsMove[] = {
    {kinematics, kElements, false},
    {split_strain, kElements, false},
    {gradients, kElements, false},
};

static const Step kBeforeMaterial[] = {
    {region_viscosity, kRegions, false}, {check_viscosity, kElements, false},  {copy_volume, kElements, false},
    {clamp_low_volume, kElements, false}, {clamp_high_volume, kElements, false}, {check_volume, kElements, false},
};

/* As often as the region is dear. */
static Loop *const kMaterial[] = {
    pack_material, compress,    compress_at_least, compress_at_most, clear_work,  energy_half,   bulk_half,     pressure_half,
    viscosity_half, energy_work, bulk_full,        pressure_full,    energy_full, bulk_full,     pressure_full, viscosity_full,
};

static const Step kAfterMaterial[] = {
    {store_material, kRegions, false}, {sound_speed, kRegions, false},   {update_volume, kElements, false},
    {courant_limit, kRegions, false},  {hydro_limit, kRegions, false},
};

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

/* One of the threads that share the loops. */
typedef struct {
  int number, count;
} Member;

static void run_part(Fields *fields, Loop *run, int32_t begin, int32_t end, Member member) {
  int64_t whole = end - begin;
  int32_t first = begin + (int32_t)(whole * member.number / member.count);
  int32_t last = begin + (int32_t)(whole * (member.number + 1) / member.count);
  if (first < last) {
    run(fields, first, last);
  }
}

static void run_regions(Fields *fields, Loop *run, Member member) {
  const Regions *regions = fields->regions;
  for (int region = 0; region < regions->count; ++region) {
    run_part(fields, run, regions->begin[region], regions->begin[region + 1], member);
  }
}

static void run_step(Fields *fields, const Step *step, Member member) {
  const Mesh *mesh = fields->mesh;
  switch (step->over) {
    case kNodes: run_part(fields, step->run, 0, mesh->nodes, member); break;
    case kElements: run_part(fields, step->run, 0, mesh->elements, member); break;
    case kRegions: run_regions(fields, step->run, member); break;
    default: run_part(fields, step->run, 0, mesh->symmetric[step->over - kPlaneX], member);
  }
}

static void await_all(Member member) {
  if (member.count > 1) {
#pragma omp barrier
  }
}

static void run_steps(Fields *fields, const Step *steps, int count, Member member) {
  for (int i = 0; i < count; ++i) {
    if (steps[i].together) {
      await_all(member);
    }
    run_step(fields, &steps[i], member);
  }
}

/* A thread's part of a region's elements goes through all loops without the others. */
static void run_material(Fields *fields, Member member) {
  const Regions *regions = fields->regions;
  for (int region = 0; region < regions->count; ++region) {
    for (int time = 0; time < regions->times[region]; ++time) {
      for (int i = 0; i < COUNT(kMaterial); ++i) {
        run_part(fields, kMaterial[i], regions->begin[region], regions->begin[region + 1], member);
      }
    }
  }
}

static void run_elements(Fields *fields, Member member) {
  run_steps(fields, kBeforeMaterial, COUNT(kBeforeMaterial), member);
  await_all(member);
  run_material(fields, member);
  run_steps(fields, kAfterMaterial, COUNT(kAfterMaterial), member);
}

typedef void Phase(Fields *fields, Member member);

static void forces(Fields *fields, Member member) { run_steps(fields, kForces, COUNT(kForces), member); }
static void motion(Fields *fields, Member member) { run_steps(fields, kMotion, COUNT(kMotion), member); }
static void move_elements(Fields *fields, Member member) {
  run_steps(fields, kElementsMove, COUNT(kElementsMove), member);
}

static void run_alone(Fields *fields, Phase *phase) { phase(fields, (Member){0, 1}); }

static void run_shared(Fields *fields, Phase *phase) {
#ifdef _OPENMP
#pragma omp parallel
  phase(fields, (Member){omp_get_thread_num(), omp_get_num_threads()});
#else
  run_alone(fields, phase);
#endif
}

/* The least limit of all processes, and the first failure. */
static double agree(Fields *fields) {
  double mine[2] = {step_limit(fields), fields->failure}, least[2];
  MPI_Allreduce(mine, least, 2, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  fields->failure = (int)least[1];
  return least[0];
}

static void simulate(Simulation *simulation, void (*run)(Fields *, Phase *)) {
  Fields *fields = simulation->fields;
  double limit = NO_LIMIT;
  while (fields->time < STOP_TIME && fields->cycle < simulation->most_cycles && fields->failure == kSound) {
    advance_time(fields, limit);
    run(fields, forces);
    exchange_forces(simulation->exchange, fields);
    run(fields, motion);
    exchange_motion(simulation->exchange, fields);
    run(fields, move_elements);
    exchange_gradients(simulation->exchange, fields);
    run(fields, run_elements);
    limit = agree(fields);
    if (simulation->prints_cycles) {
      printf("# cycle %d time %.9e step %.9e\n", fields->cycle, fields->time, fields->step);
    }
  }
}

void form_serial(Simulation *simulation) { simulate(simulation, run_alone); }

void form_loops(Simulation *simulation) { simulate(simulation, run_shared); }
