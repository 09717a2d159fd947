/* SPDX-License-Identifier: Apache-2.0
 *
 * All shots, and the sum of their parts: one after the other, as tasks of the host, or as target tasks. Called by the
 * main thread outside of parallel regions. All forms leave the same bits.
 */
#ifndef RTM_FORMS_H
#define RTM_FORMS_H

#include "earth.h"
#include "failure.h"
#include "stack.h"

/* What a form needs. */
typedef struct {
  const Earth* earth;
  const Stack* stack;
  int threads;         /* of a shot */
  double ms_per_point; /* 0: shots compute; otherwise they sleep so long per point that they would compute */
  int first_device, devices;
} Work;

void forms_serial(const Work* work);
void forms_tasks(const Work* work);
void forms_target(const Work* work);

/* How many devices the target form uses, and the first one. Notes a failure if there are too few, or if a device's
 * regions run on the host. Starts the devices. */
void forms_find_devices(Work* work, int wanted, Failure* failure);

#endif
