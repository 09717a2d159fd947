/* SPDX-License-Identifier: Apache-2.0
 *
 * Each device has a unique identifier that leads back to it, and so has the host. Arguments: what the devices' are, in
 * the order of their numbers.
 *
 * Covers: omp_get_num_devices, omp_get_initial_device, omp_is_initial_device, omp_get_uid_from_device,
 *  omp_get_device_from_uid
 *
 * Of OpenMP 6.0: omp_get_uid_from_device, omp_get_device_from_uid, OMP_AVAILABLE_DEVICES.
 */
#include "../device.h"

#include <string.h>

extern const char* omp_get_uid_from_device(int device); /* of OpenMP 6.0: not in all compilers' omp.h */
extern int omp_get_device_from_uid(const char* uid);

#define INVALID_DEVICE (-2)

int main(int argc, char** argv) {
  int devices = omp_get_num_devices();
  CHECK_EQ(devices, argc - 1);
  for (int d = 0; d < devices; d++) {
    const char* uid = omp_get_uid_from_device(d);
    CHECK(uid != NULL && strcmp(uid, argv[1 + d]) == 0);
    CHECK_EQ(omp_get_device_from_uid(uid), d);
    int on_host = 1;
#pragma omp target device(d) map(from : on_host)
    on_host = omp_is_initial_device();
    CHECK_EQ(on_host, 0);
  }
  CHECK_EQ(omp_get_device_from_uid(omp_get_uid_from_device(omp_get_initial_device())), omp_get_initial_device());
  CHECK_EQ(omp_get_device_from_uid("nobody"), INVALID_DEVICE);
  CHECK(omp_get_uid_from_device(INVALID_DEVICE) == NULL);
  CHECK(omp_get_uid_from_device(devices + 1) == NULL);
  return 0;
}
