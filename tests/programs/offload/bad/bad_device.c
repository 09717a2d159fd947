/* SPDX-License-Identifier: Apache-2.0
 *
 * Device numbers that name no device, in constructs and in routines: an error that names the number.
 *
 * Covers: target(device), target enter data(device), target update(device), target data(device), omp_target_alloc
 */
#include "bad.h"

static int number = 1000;

static void target(void) {
#pragma omp target device(number)
  ;
}

static void negative(void) {
  number = -3;
#pragma omp target device(number)
  ;
}

static void invalid(void) {
#ifdef __clang__
  number = -2; /* omp_invalid_device of OpenMP 5.2 */
#endif
#pragma omp target device(number)
  ;
}

static void next(void) { /* the first number after the host's */
  number = omp_get_num_devices() + 1;
#pragma omp target device(number)
  ;
}

static void data(void) {
  int x = 0;
#pragma omp target data map(x) device(number)
  x++;
}

static void enter(void) {
  int x = 0;
#pragma omp target enter data map(to : x) device(number)
}

static void update(void) {
  int x = 0;
#pragma omp target update to(x) device(number)
}

static void deferred(void) {
  int x = 0;
#pragma omp target nowait map(tofrom : x) device(number)
  x++;
#pragma omp taskwait
}

static void default_device(void) {
  omp_set_default_device(number);
#pragma omp target
  ;
}

static void alloc(void) {
  if (!omp_target_alloc(10, number)) {
    fputs("omp_target_alloc: no memory from device 1000\n", stderr);
    exit(1);
  }
}

static void copy(void) {
  int x = 0, y = 0;
  if (omp_target_memcpy(&x, &y, sizeof x, 0, 0, number, omp_get_initial_device()) != 0) {
    fputs("omp_target_memcpy: no copy to device 1000\n", stderr);
    exit(1);
  }
}

int main(int argc, char** argv) {
  static const Mistake mistakes[] = {{"target", target}, {"negative", negative}, {"invalid", invalid},
                                     {"next", next},     {"data", data},         {"enter", enter},
                                     {"update", update}, {"deferred", deferred}, {"default", default_device},
                                     {"alloc", alloc},   {"copy", copy}};
  return MAKE_MISTAKE(argc, argv, mistakes);
}
