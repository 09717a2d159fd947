/* SPDX-License-Identifier: Apache-2.0
 *
 * OMP_TARGET_OFFLOAD=mandatory ends a program of GCC's, which has no devices, at its first device construct, unless the
 * construct asks for the host; the other values do not.
 *
 * Covers (gcc): OMP_TARGET_OFFLOAD, omp_set_default_device
 */
#include "../../child.h"
#include <omp.h>

static void target(void) {
#pragma omp target
  puts("in the region");
}

static int child(const char* what) {
  int x = 0;
  if (strcmp(what, "target") == 0) {
    target();
  } else if (strcmp(what, "data") == 0) {
#pragma omp target data map(x)
    x++;
  } else if (strcmp(what, "update") == 0) {
#pragma omp target enter data map(to : x)
  } else if (strcmp(what, "number") == 0) {
#pragma omp target device(3)
    puts("in the region");
  } else {
#pragma omp target if (x)
    puts("in the region");
#pragma omp target device(omp_get_initial_device())
    puts("in the region");
    omp_set_default_device(omp_get_initial_device());
    CHECK_EQ(omp_get_default_device(), omp_get_initial_device());
    target();
  }
  puts("went on");
  return 0;
}

static void expect(const char* what, char* mode, int goes_on) {
  static Child c;
  char* variables[] = {mode, NULL};
  run_child(&c, what, variables);
  CHECK_EQ(strstr(c.output, "went on") != NULL, goes_on);
  if (!goes_on) CHECK_LINE(&c, "marline: fatal", "OMP_TARGET_OFFLOAD=mandatory", "device");
  if (!goes_on) CHECK(strstr(c.output, "in the region") == NULL);
}

int main(int argc, char** argv) {
  if (argc > 1) return child(argv[1]);
  static char mandatory[] = "OMP_TARGET_OFFLOAD=mandatory", disabled[] = "OMP_TARGET_OFFLOAD=disabled";
  expect("target", mandatory, 0);
  expect("data", mandatory, 0);
  expect("update", mandatory, 0);
  expect("number", mandatory, 0);
  expect("host", mandatory, 1);
  expect("target", disabled, 1);
  expect("number", disabled, 1);
  return 0;
}
