/* SPDX-License-Identifier: Apache-2.0
 *
 * Data is taken away by `delete` while a deferred region uses it. The construct does not depend on the region's task.
 * The data stays until the region has ended, and its results come back. What is mapped again meanwhile stays mapped.
 *
 * Covers: target(nowait, map:tofrom, is_device_ptr), target exit data(map:delete), target enter data(map:to)
 */
#include "../device.h"

#define N 10000

static int array[N], other[N];

/* Two flags in the device's memory: the region runs; the data has been deleted. */
static int flag_at(volatile int* flags, int which) {
  int value;
  CHECK_EQ(omp_target_memcpy(&value, (int*)flags, sizeof value, 0, (size_t)which * sizeof value,
                             omp_get_initial_device(), omp_get_default_device()),
           0);
  return value;
}

static void set_flag(volatile int* flags, int which, int value) {
  CHECK_EQ(omp_target_memcpy((int*)flags, &value, sizeof value, (size_t)which * sizeof value, 0,
                             omp_get_default_device(), omp_get_initial_device()),
           0);
}

static void delete_under(volatile int* flags, int again) {
  for (int i = 0; i < N; i++) array[i] = i, other[i] = -7;
  set_flag(flags, 0, 0);
  set_flag(flags, 1, 0);
#pragma omp target enter data map(to : array)
#pragma omp target nowait map(tofrom : array) is_device_ptr(flags)
  {
    flags[0] = 1;
    while (flags[1] == 0) {
    }
    for (int i = 0; i < N; i++) array[i] += 1;
  }
  while (flag_at(flags, 0) == 0) usleep(100);
#pragma omp target exit data map(delete : array)
  if (again) {
#pragma omp target enter data map(to : array)
  }
  /* Would get the memory of what is gone, and overwrite it. */
#pragma omp target enter data map(to : other)
  set_flag(flags, 1, 1);
#pragma omp taskwait
#pragma omp target exit data map(release : other)
  CHECK_PRESENT(array, again);
  if (again) {
    CHECK_COPY(array[5], 5, 6);
#pragma omp target exit data map(from : array)
  }
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], i + 1);
  CHECK_PRESENT(array, 0);
}

int main(void) {
  volatile int* flags = omp_target_alloc(2 * sizeof *flags, omp_get_default_device());
  CHECK(flags != NULL);
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 10; i++) delete_under(flags, i % 2);
  omp_target_free((void*)flags, omp_get_default_device());
  return 0;
}
