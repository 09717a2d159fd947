/* SPDX-License-Identifier: Apache-2.0
 *
 * See devices.h. No state.
 */
#include "devices.h"

#include <omp.h>

#include "device.h"

int devices_count(const Options* options, Failure* failure) {
  const int devices = omp_get_num_devices();
  if (devices == 0) {
    failure_note(failure, kExitInput, "there is no device for target regions; --host runs without");
  } else if (options->devices > devices) {
    failure_note(failure, kExitInput, "--devices %d: there are only %d", options->devices, devices);
  }
  return options->devices > 0 ? options->devices : devices;
}

static float* address_on(float* field, int device) {
  float* there = field;
#pragma omp target data use_device_ptr(there) device(device)
  field = there;
  return field;
}

static void enter(const Grid* grid, Slab* slab) {
  float *now = slab->fields[0], *next = slab->fields[1], *factors = slab->factors, *damping = grid->damping;
  Shape* shape = &slab->shape;
  const size_t size = slab->field_size, factor_size = slab->factor_size, damping_size = grid->damping_size;
#pragma omp target enter data device(slab->device) \
    map(to : now[0 : size], next[0 : size], factors[0 : factor_size], damping[0 : damping_size], shape[0 : 1])
  slab->there[0] = address_on(now, slab->device);
  slab->there[1] = address_on(next, slab->device);
}

void devices_enter(Grid* grid, Failure* failure) {
  for (int i = 0; i < grid->slabs; ++i) {
    grid->slab[i].device = i;
    device_check(i, failure);
    enter(grid, &grid->slab[i]);
  }
}

static void leave(const Grid* grid, Slab* slab, int step) {
  float *now = slab->fields[step % 2], *next = slab->fields[(step + 1) % 2];
  float *factors = slab->factors, *damping = grid->damping;
  Shape* shape = &slab->shape;
  const size_t size = slab->field_size, factor_size = slab->factor_size, damping_size = grid->damping_size;
  const size_t first = grid_region(slab, kLower), count = grid_region(slab, kUpperHalo) - first;
#pragma omp target update from(now[first : count]) device(slab -> device)
#pragma omp target exit data device(slab->device) \
    map(delete : now[0 : size], next[0 : size], factors[0 : factor_size], damping[0 : damping_size], shape[0 : 1])
}

void devices_leave(Grid* grid, int step) {
  for (int i = 0; i < grid->slabs; ++i) {
    leave(grid, &grid->slab[i], step);
  }
}
