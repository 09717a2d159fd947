/* SPDX-License-Identifier: Apache-2.0
 *
 * Three phases, each of deferred constructs on all devices at once: data enters, kernels run, data leaves. The kernels
 * begin when all data is there, so that their time is that of the lookups alone: the thread that copies data to one
 * device would start another one's kernel late. Host tasks note when a device's kernels have ended. See devices.h.
 */
#include "devices.h"

#include <omp.h>
#include <stdlib.h>

#include "device.h"
#include "lookup.h"
#include "nap.h"

/* Of one device. Dependences name it: the address of a Chain stands for the device's data. */
typedef struct {
  double ended;
} Chain;

typedef struct {
  const Tables* tables;
  const Work* work;
  Chain* chains;            /* of each device */
  unsigned long long* sums; /* of each kernel: mapped while it runs */
} Run;

/* The first lookup of kernel k, counted over all devices. Its lookups end where kernel k + 1 begins. */
static long long first_lookup(const Work* work, long long kernel) {
  const long long kernels = (long long)work->devices * work->kernels;
  return work->lookups / kernels * kernel + work->lookups % kernels * kernel / kernels;
}

/* They take turns on a device, as if each filled it. */
static void sleep_instead(const Work* work, int device, long long lookups, Chain* chain, unsigned long long* sum) {
  const double milliseconds = work->sleep_ms * (double)lookups / (double)work->lookups;
  (void)chain; /* for GCC, which does not count what only a clause names */
#pragma omp target nowait device(device) depend(in : chain[0]) map(tofrom : sum[0 : 1])
  {
    nap(milliseconds, device);
    sum[0] += (unsigned long long)lookups;
  }
}

/* What a device has of the tables, by the names of local variables. */
#define TABLE_ARRAYS points [0:point_count], energies [0:energy_count], index [0:index_count], materials [0:1]

/* Data may still be on its way when the construct that sends it has ended. The empty region runs after the data has
 * come. */
static void enter(const Run* run, int device) {
  const Tables* tables = run->tables;
  const Lengths lengths = tables_lengths(tables->grid, tables->nuclides, tables->gridpoints);
  const size_t point_count = lengths.points, energy_count = lengths.energies, index_count = lengths.index;
  const Point* points = tables->points;
  const double* energies = tables->energies;
  const int* index = tables->index;
  const Materials* materials = tables->materials;
  Chain* chain = run->chains + device;
#pragma omp target enter data nowait device(device) depend(out : chain[0]) map(to : TABLE_ARRAYS)
#pragma omp target nowait device(device) depend(inout : chain[0])
  {
  }
}

/* Kernel k of the device. The kernels of a device do not depend on each other. */
static void start_kernel(const Run* run, int device, int k) {
  const Tables* tables = run->tables;
  const Lengths lengths = tables_lengths(tables->grid, tables->nuclides, tables->gridpoints);
  const size_t point_count = lengths.points, energy_count = lengths.energies, index_count = lengths.index;
  const GridKind grid = tables->grid;
  const int nuclides = tables->nuclides, gridpoints = tables->gridpoints;
  const Point* points = tables->points;
  const double* energies = tables->energies;
  const int* index = tables->index;
  const Materials* materials = tables->materials;
  Chain* chain = run->chains + device;
  const long long kernel = (long long)device * run->work->kernels + k;
  const long long first = first_lookup(run->work, kernel), end = first_lookup(run->work, kernel + 1);
  unsigned long long* sum = run->sums + kernel;
  if (run->work->sleep_ms > 0) {
    sleep_instead(run->work, device, end - first, chain, sum);
    return;
  }
#pragma omp target teams distribute parallel for nowait device(device) depend(in : chain[0]) map(alloc : TABLE_ARRAYS) \
    map(tofrom : sum[0 : 1]) reduction(+ : sum[0 : 1])
  for (long long lookup = first; lookup < end; ++lookup) {
    const Tables here = {grid, nuclides, gridpoints, points, energies, index, materials};
    sum[0] += lookup_channel(&here, lookup);
  }
}

static void note_end(const Run* run, int device) {
  Chain* chain = run->chains + device;
#pragma omp task depend(inout : chain[0])
  chain->ended = omp_get_wtime();
}

static void leave(const Run* run, int device) {
  const Tables* tables = run->tables;
  const Lengths lengths = tables_lengths(tables->grid, tables->nuclides, tables->gridpoints);
  const size_t point_count = lengths.points, energy_count = lengths.energies, index_count = lengths.index;
  const Point* points = tables->points;
  const double* energies = tables->energies;
  const int* index = tables->index;
  const Materials* materials = tables->materials;
#pragma omp target exit data nowait device(device) map(release : TABLE_ARRAYS)
}

/* Devices take turns as kernels are created, so that none waits for its first one until the others have all theirs. */
static void start_kernels(const Run* run) {
  for (int k = 0; k < run->work->kernels; ++k) {
    for (int device = 0; device < run->work->devices; ++device) {
      start_kernel(run, device, k);
    }
  }
  for (int device = 0; device < run->work->devices; ++device) {
    note_end(run, device);
  }
}

/* Returns when the data was on all devices. */
static double run_phases(const Run* run) {
  for (int device = 0; device < run->work->devices; ++device) {
    enter(run, device);
  }
#pragma omp taskwait
  const double entered = omp_get_wtime();
  start_kernels(run);
#pragma omp taskwait
  for (int device = 0; device < run->work->devices; ++device) {
    leave(run, device);
  }
#pragma omp taskwait
  return entered;
}

static void sum_up(const Run* run, double entered, Outcome* outcome) {
  const Work* work = run->work;
  for (int device = 0; device < work->devices; ++device) {
    const double kernels = run->chains[device].ended - entered;
    outcome->kernels = kernels > outcome->kernels ? kernels : outcome->kernels;
  }
  for (long long kernel = 0; kernel < (long long)work->devices * work->kernels; ++kernel) {
    outcome->sum += run->sums[kernel];
  }
}

bool devices_run(const Tables* tables, const Work* work, Outcome* outcome) {
  const size_t devices = (size_t)work->devices;
  const Run run = {tables, work, calloc(devices, sizeof(Chain)),
                   calloc(devices * (size_t)work->kernels, sizeof(unsigned long long))};
  const bool room = run.chains && run.sums;
  *outcome = (Outcome){0};
  if (room) {
    const double start = omp_get_wtime();
    double entered = 0;
#pragma omp parallel
#pragma omp single
    entered = run_phases(&run);
    outcome->seconds = omp_get_wtime() - start;
    outcome->enter = entered - start;
    sum_up(&run, entered, outcome);
  }
  free(run.chains);
  free(run.sums);
  return room;
}

int devices_prepare(int wanted, Failure* failure) {
  const int there = omp_get_num_devices();
  if (there == 0) {
    failure_note(failure, kExitInput, "there is no device; take --host, or ask `marline devices` why");
  } else if (wanted > there) {
    failure_note(failure, kExitInput, "--devices %d: there are only %d devices", wanted, there);
  }
  const int used = wanted > 0 ? wanted : there;
  for (int device = 0; failure->code == 0 && device < used; ++device) {
    device_check(device, failure);
  }
  return used;
}
