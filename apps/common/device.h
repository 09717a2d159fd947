/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks that a device exists and is not the host. Main thread only.
 */
#ifndef MARLINE_APPS_COMMON_DEVICE_H
#define MARLINE_APPS_COMMON_DEVICE_H

#include "failure.h"

/* Runs an empty region, which may start the device and load the program's code there: the clock should not run yet.
 * Notes a failure if the region has run on the host. */
void device_check(int device, Failure* failure);

#endif
