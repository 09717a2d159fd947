/* SPDX-License-Identifier: Apache-2.0
 *
 * Shots as target tasks; see forms.h. Nothing here depends on what the devices are: one thread creates all tasks, and
 * never waits before all have been created. The model goes to each device once, each shot's part of the image comes
 * back when it has ended, and a task of the host adds it as soon as the parts before it have been added.
 */
#include <omp.h>
#include <string.h>

#include "device.h"
#include "forms.h"
#include "nap.h"

/* The model on a device, by the names of local variables. */
#define EARTH_ARRAYS survey [0:1], truth [0:points], smooth [0:points], wavelet [0:steps]

static void enter(const Work* work, int device, char* arrived) {
  const Survey* survey = &work->earth->survey;
  const float *truth = work->earth->truth, *smooth = work->earth->smooth, *wavelet = work->earth->wavelet;
  const size_t points = (size_t)survey->nx * (size_t)survey->nz, steps = (size_t)survey->steps;
  (void)arrived; /* for GCC, which does not count what only a clause names */
#pragma omp target enter data nowait device(device) depend(out : arrived[0]) map(to : EARTH_ARRAYS)
}

static void leave(const Work* work, int device) {
  const Survey* survey = &work->earth->survey;
  const float *truth = work->earth->truth, *smooth = work->earth->smooth, *wavelet = work->earth->wavelet;
  const size_t points = (size_t)survey->nx * (size_t)survey->nz, steps = (size_t)survey->steps;
#pragma omp target exit data nowait device(device) map(release : EARTH_ARRAYS)
}

static void sleep_instead(const Work* work, int shot, int device, char* arrived) {
  const double milliseconds = work->ms_per_point * survey_work(&work->earth->survey, shot);
  float* part = stack_part(work->stack, shot);
  const size_t size = stack_part_size(&work->earth->survey, shot);
  (void)arrived;
#pragma omp target nowait device(device) depend(in : arrived[0]) depend(out : part[0 : size]) map(from : part[0 : size])
  {
    nap(milliseconds, device);
    memset(part, 0, size * sizeof *part);
  }
}

static void start_shot(const Work* work, int shot, int device, char* arrived) {
  const Survey* survey = &work->earth->survey;
  const float *truth = work->earth->truth, *smooth = work->earth->smooth, *wavelet = work->earth->wavelet;
  const size_t points = (size_t)survey->nx * (size_t)survey->nz, steps = (size_t)survey->steps;
  float* part = stack_part(work->stack, shot);
  const size_t size = stack_part_size(survey, shot);
  Outcome* outcome = &work->stack->outcomes[shot];
  const int threads = work->threads;
  (void)arrived;
#pragma omp target nowait device(device) depend(in : arrived[0]) depend(out : part[0 : size], outcome[0]) \
    map(to : EARTH_ARRAYS) map(from : part[0 : size], outcome[0 : 1])
  shot_migrate(survey, truth, smooth, wavelet, shot, threads, part, outcome);
}

static void add_later(const Work* work, int shot) {
  const Stack* stack = work->stack;
  float *part = stack_part(stack, shot), *image = stack->image;
  const size_t size = stack_part_size(stack->survey, shot);
  (void)part;
  (void)image;
#pragma omp task firstprivate(stack, shot) depend(in : part[0 : size]) depend(inout : image[0])
  stack_add(stack, shot);
}

/* The device that has been given least; its share grows by the shot's. */
static int give(double* shares, int devices, double points) {
  int least = 0;
  for (int i = 1; i < devices; ++i) {
    least = shares[i] < shares[least] ? i : least;
  }
  shares[least] += points;
  return least;
}

static void create_tasks(const Work* work, double* shares, char* arrived) {
  for (int i = 0; i < work->devices; ++i) {
    enter(work, work->first_device + i, arrived + i);
  }
  for (int shot = 0; shot < work->earth->survey.shots; ++shot) {
    const int i = give(shares, work->devices, survey_work(&work->earth->survey, shot));
    if (work->ms_per_point > 0) {
      sleep_instead(work, shot, work->first_device + i, arrived + i);
    } else {
      start_shot(work, shot, work->first_device + i, arrived + i);
    }
    add_later(work, shot);
  }
#pragma omp taskwait
  for (int i = 0; i < work->devices; ++i) {
    leave(work, work->first_device + i);
  }
}

void forms_target(const Work* work) {
  double shares[kMostDevices] = {0};
  char arrived[kMostDevices]; /* their addresses stand for the model on each device */
#pragma omp parallel
#pragma omp single
  create_tasks(work, shares, arrived);
}

void forms_find_devices(Work* work, int wanted, Failure* failure) {
  const int there = omp_get_num_devices();
  work->first_device = wanted == kDevicesDefault ? omp_get_default_device() : 0;
  work->devices = wanted == kDevicesDefault ? 1 : wanted == kDevicesAll ? there : wanted;
  if (there == 0) {
    failure_note(failure, kExitInput, "there is no device; take --form tasks, or ask `marline devices` why");
  } else if (work->devices > kMostDevices) {
    failure_note(failure, kExitInput, "--devices all: there are %d devices, and at most %d can be used: say how many",
                 there, kMostDevices);
  } else if (work->devices > there) {
    failure_note(failure, kExitInput, "--devices %d: there are only %d devices", work->devices, there);
  }
  for (int i = 0; failure->code == 0 && i < work->devices; ++i) {
    device_check(work->first_device + i, failure);
  }
}
