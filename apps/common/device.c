/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks that a region runs on the device. No state.
 */
#include "device.h"

#include <omp.h>

void device_check(int device, Failure* failure) {
  int on_host = 1;
#pragma omp target device(device) map(from : on_host)
  on_host = omp_is_initial_device();
  if (on_host) {
    failure_note(failure, kExitInput,
                 "the target regions of device %d run on the host; set OMP_TARGET_OFFLOAD=mandatory to see why",
                 device);
  }
}
