/* SPDX-License-Identifier: Apache-2.0
 *
 * All lookups by devices, each of which makes an equal share of them. Whatever is a device to OpenMP will do; nothing
 * here asks what kind it is. Main thread, which creates tasks, and the threads that run them.
 */
#ifndef XSBENCH_DEVICES_H
#define XSBENCH_DEVICES_H

#include "failure.h"
#include "tables.h"

typedef struct {
  int devices;       /* 0 to `devices` - 1 */
  int kernels;       /* on each device */
  long long lookups; /* of all devices */
  double sleep_ms;   /* 0: kernels look up; otherwise they sleep, this long in all */
} Work;

typedef struct {
  unsigned long long sum; /* of channels; of lookups if kernels sleep */
  double seconds;         /* from the first mapping until all data is unmapped */
  double enter;           /* until the last device has its data */
  double kernels;         /* from then on until the last result is there */
} Outcome;

/* How many devices there are to use if `wanted` are wanted, 0 for all; each has run a region when this returns. Notes a
 * failure if there are too few, or if a region has run on the host. */
int devices_prepare(int wanted, Failure* failure);

/* False if there is not enough memory. */
bool devices_run(const Tables* tables, const Work* work, Outcome* outcome);

#endif
