/* SPDX-License-Identifier: Apache-2.0
 *
 * Constructs without a device clause go to the default device that OMP_DEFAULT_DEVICE names: its number is the
 * argument, or `host`. The program's own choice comes before that.
 *
 * Covers: omp_get_default_device, omp_set_default_device, OMP_DEFAULT_DEVICE
 */
#include "../device.h"

#include <string.h>

static int where(void) {
  int number = -1;
#pragma omp target map(from : number)
  number = omp_get_device_num();
  return number;
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  int host = omp_get_initial_device();
  int expected = strcmp(argv[1], "host") == 0 ? host : atoi(argv[1]);
  CHECK_EQ(omp_get_default_device(), expected);
  CHECK_EQ(where(), expected);
  int x = 1;
#pragma omp target enter data map(to : x)
  CHECK(expected == host || omp_target_is_present(&x, expected));
#pragma omp target exit data map(delete : x)
#pragma omp parallel num_threads(2)
  CHECK_EQ(omp_get_default_device(), expected);
  omp_set_default_device(0);
  CHECK_EQ(omp_get_default_device(), 0);
  CHECK_EQ(where(), 0);
  omp_set_default_device(host);
  CHECK_EQ(omp_get_default_device(), host);
  CHECK_EQ(where(), host);
  return 0;
}
