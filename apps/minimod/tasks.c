/* SPDX-License-Identifier: Apache-2.0
 *
 * See tasks.h. One thread creates the tasks of all steps: per slab a target task for each part, and for each pair of
 * neighbours two tasks that exchange halos. The tokens of grid.h order them:
 *
 *   part p, step k     in  regions p - 1, p, p + 1 of the field that step k reads      out  region p of the other one
 *   exchange           in  a part of the field that step k has written                 out  the neighbour's halo there
 *
 * So the exchange of a step overlaps with its inner parts, and a slab that has its halos need not wait for other slabs.
 */
#include "tasks.h"

#include <omp.h>

#include "kernel.h"
#include "rest.h"
#include "wave.h"

/* Functions that create a task are not inlined: the code address at the creation tells tools which kind it is. */
__attribute__((noinline)) static void task_part(const Grid* grid, Slab* slab, int step, int part, int first, int last) {
  const float *now = slab->fields[step % 2], *factors = slab->factors, *damping = grid->damping;
  float* next = slab->fields[(step + 1) % 2];
  const Shape* shape = &slab->shape;
  const size_t size = slab->field_size, factor_size = slab->factor_size, damping_size = grid->damping_size;
  const int rows = shape->ny, points = shape->nz;
  const int chunk = grid->options->chunk > 0 && grid->options->chunk < points ? grid->options->chunk : points;
  const int chunks = (points + chunk - 1) / chunk;
  const float source = (float)wave_source(grid->options, step * grid->options->courant);
  char *before = grid_token(slab, step, part - 1), *here = grid_token(slab, step, part);
  char *behind = grid_token(slab, step, part + 1), *made = grid_token(slab, step + 1, part);
#pragma omp target teams distribute parallel for collapse(3) nowait device(slab->device)                          \
    map(alloc : now[0 : size], next[0 : size], factors[0 : factor_size], damping[0 : damping_size], shape[0 : 1]) \
    depend(in : *before, *here, *behind) depend(out : *made)
  for (int x = first; x < last; ++x) {
    for (int y = 0; y < rows; ++y) {
      for (int i = 0; i < chunks; ++i) {
        const int end = (i + 1) * chunk < points ? (i + 1) * chunk : points;
        kernel_chunk(shape, next, now, factors, damping, x, y, i * chunk, end, source);
      }
    }
  }
}

__attribute__((noinline)) static void task_rest(const Grid* grid, Slab* slab, int step, int part, int first, int last) {
  const unsigned time = rest_time(grid->options, &slab->shape, last - first);
  char *before = grid_token(slab, step, part - 1), *here = grid_token(slab, step, part);
  char *behind = grid_token(slab, step, part + 1), *made = grid_token(slab, step + 1, part);
  const int device = slab->device;
#pragma omp target nowait device(device) depend(in : *before, *here, *behind) depend(out : *made)
  rest_sleep(time, device);
}

/* Stands for a kernel, so that the halos of a step wait for the halos of the step before. */
__attribute__((noinline)) static void task_nothing(Slab* slab, int step, int part) {
  char *before = grid_token(slab, step, part - 1), *here = grid_token(slab, step, part);
  char *behind = grid_token(slab, step, part + 1), *made = grid_token(slab, step + 1, part);
#pragma omp task depend(in : *before, *here, *behind) depend(out : *made)
  {
  }
}

static void create_part(const Grid* grid, Slab* slab, int step, int part, Work work) {
  int first, last;
  grid_part(slab, part, &first, &last);
  if (first < last && work == kWorkHalos) {
    task_nothing(slab, step, part);
  } else if (first < last) {
    (grid->options->sleep > 0 ? task_rest : task_part)(grid, slab, step, part, first, last);
  }
}

/* A part of `from`'s field that step `step` reads becomes a halo of its neighbour's: one block, as x is the slowest. */
__attribute__((noinline)) static void task_copy(Slab* from, Slab* to, int step, int part, int halo, int* failed) {
  const size_t bytes = kHalo * from->plane_size * sizeof(float);
  const size_t source = sizeof(float) * grid_region(from, part), target = sizeof(float) * grid_region(to, halo);
  const char* made = grid_token(from, step, part);
  char* needed = grid_token(to, step, halo);
#pragma omp task default(none) firstprivate(from, to, step, bytes, source, target, failed) depend(in : *made) \
    depend(out : *needed)
  if (omp_target_memcpy(to->there[step % 2], from->there[step % 2], bytes, target, source, to->device, from->device)) {
#pragma omp atomic write
    *failed = 1;
  }
}

/* The same through the host, where slabs are parts of one field: the part and the halo are the same numbers. */
__attribute__((noinline)) static void task_update(Slab* from, Slab* to, int step, int part, int halo) {
  const size_t count = kHalo * from->plane_size;
  float* planes = from->fields[step % 2] + grid_region(from, part);
  const int source = from->device, target = to->device;
  const char* made = grid_token(from, step, part);
  char* needed = grid_token(to, step, halo);
#pragma omp task default(none) firstprivate(planes, count, source, target) depend(in : *made) depend(out : *needed)
  {
#pragma omp target update from(planes[0 : count]) device(source)
#pragma omp target update to(planes[0 : count]) device(target)
  }
}

static void create_exchange(const Grid* grid, Slab* from, Slab* to, int step, bool upwards, int* failed) {
  const int part = upwards ? kUpper : kLower, halo = upwards ? kLowerHalo : kUpperHalo;
  if (grid->options->form == kFormUpdates) {
    task_update(from, to, step, part, halo);
  } else {
    task_copy(from, to, step, part, halo, failed);
  }
}

/* What others wait for comes first. */
static void create_step(const Grid* grid, int step, Work work, int* failed) {
  Slab* slab = grid->slab;
  for (int i = 0; i < grid->slabs; ++i) {
    create_part(grid, &slab[i], step, kLower, work);
    create_part(grid, &slab[i], step, kUpper, work);
  }
  for (int i = 0; i + 1 < grid->slabs && work != kWorkKernels; ++i) {
    create_exchange(grid, &slab[i], &slab[i + 1], step + 1, true, failed);
    create_exchange(grid, &slab[i + 1], &slab[i], step + 1, false, failed);
  }
  for (int i = 0; i < grid->slabs; ++i) {
    create_part(grid, &slab[i], step, kInner, work);
  }
}

void tasks_run(Grid* grid, Work work, Failure* failure) {
  int failed = 0;
#pragma omp parallel default(none) shared(grid, work, failed)
#pragma omp single
  for (int step = 0; step < grid->options->steps; ++step) {
    create_step(grid, step, work, &failed);
  }
  if (failed) {
    failure_note(failure, kExitInput, "omp_target_memcpy failed between devices; --form updates does without");
  }
}
