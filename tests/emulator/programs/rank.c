/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank of a job, as the launcher's variables in the environment say: regions without a device clause run on its share
 * of the devices. The argument is the number of devices. LLVM's runtime knows no ranks, and has device 0.
 */
#include "emulated.h"

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  int marline = strcmp(getenv("MARLINE_TEST_RUNTIME"), "marline") == 0, expected = marline ? atoi(argv[1]) : 0,
      there = -1;
  CHECK_EQ(omp_get_default_device(), expected);
#pragma omp target map(from : there)
  there = omp_get_device_num();
  CHECK_EQ(there, expected);
#pragma omp parallel num_threads(2)
  CHECK_EQ(omp_get_default_device(), expected);
  omp_set_default_device(0);
#pragma omp target map(from : there)
  there = omp_get_device_num();
  CHECK_EQ(there, 0);
  return 0;
}
