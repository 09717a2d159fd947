/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors that the settings inject reach the program: as a null pointer or a number from routines, as an end with a line
 * from constructs.
 *
 *     errors routines     with MARLINE_EMULATOR_ERROR=alloc:2,alloc:3,copy:3: libomptarget asks twice for memory
 *     errors regions      runs five regions; the test looks for libomptarget's line
 *     errors many         the same, five deferred regions at a time
 *     errors trap         the same for a kernel that ends by a trap
 *     errors data         enter data, update and exit data; the test looks for Marline's line, too
 *     errors staged       the same in a task, where the copies are Marline's
 *     errors memory       maps more than the device has
 *     errors copy         omp_target_memcpy_async: its task cannot return a number
 */
#include "emulated.h"

/* Larger than the blocks that libomptarget keeps for itself, so that each allocation reaches the driver. */
enum { kBytes = 1 << 20 };

static void routines(void) {
  int host = omp_get_initial_device();
  static char data[kBytes];
  char* first = omp_target_alloc(kBytes, 0);
  CHECK(first != NULL);
  CHECK(omp_target_alloc(kBytes, 0) == NULL);
  unsigned long long copies = emulated(kCopiesToDevice);
  int failed = 0;
  for (int i = 0; i < 4; i++) failed += omp_target_memcpy(first, data, kBytes, 0, 0, 0, host) != 0;
  CHECK_EQ(failed, 1);
  CHECK_EQ(emulated(kCopiesToDevice) - copies, 3);
  omp_target_free(first, 0);
}

static void regions(void) {
  for (int i = 0; i < 5; i++) {
    int x = i;
#pragma omp target map(tofrom : x)
    x++;
    CHECK_EQ(x, i + 1);
  }
  printf("no error\n");
}

static void many(void) {
  int x[5] = {0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 5; i++) {
#pragma omp target nowait map(tofrom : x[i : 1])
    x[i]++;
  }
  printf("no error\n");
}

static void trap(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  if (x == 0) __builtin_trap();
  printf("no error\n");
}

static void data(void) {
  static char x[kBytes];
#pragma omp target enter data map(to : x)
#pragma omp target update to(x)
#pragma omp target exit data map(from : x)
  printf("no error\n");
}

static void memory(void) {
  static char x[32 << 20];
#pragma omp target enter data map(alloc : x)
  printf("no error\n");
}

static void copy(void) {
  static char x[kBytes];
  char* memory = omp_target_alloc(kBytes, 0);
  omp_target_memcpy_async(memory, x, kBytes, 0, 0, 0, omp_get_initial_device(), 0, NULL);
#pragma omp taskwait
  printf("no error\n");
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  if (strcmp(argv[1], "routines") == 0)
    routines();
  else if (strcmp(argv[1], "many") == 0)
    many();
  else if (strcmp(argv[1], "trap") == 0)
    trap();
  else if (strcmp(argv[1], "data") == 0)
    data();
  else if (strcmp(argv[1], "copy") == 0)
    copy();
  else if (strcmp(argv[1], "staged") == 0) {
#pragma omp parallel
#pragma omp single
    data();
  } else if (strcmp(argv[1], "memory") == 0)
    memory();
  else
    regions();
  return 0;
}
