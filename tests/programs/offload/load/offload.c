/* SPDX-License-Identifier: Apache-2.0
 *
 * Offloading by LLVM's libomptarget, to the devices for which the program was built: data is mapped, deferred regions
 * are ordered with host tasks by their dependences, and the routines about devices reach libomptarget.
 *
 * Covers: target(map, depend, nowait, device, is_device_ptr), target enter data(map, depend, nowait),
 *  target exit data(map, depend, nowait), target update(from), omp_get_num_devices, omp_is_initial_device
 */
#include "../../check.h"
#include <omp.h>

#define N 1000
#define CHAIN 50

static void on_a_device(void) {
  int devices = omp_get_num_devices();
  CHECK(devices > 0);
  CHECK_EQ(omp_get_initial_device(), devices);
  CHECK_EQ(omp_get_default_device(), 0);
  CHECK(omp_is_initial_device());
  for (int d = 0; d < devices; d++) {
    int initial = -1, sum = 0, array[N];
    for (int i = 0; i < N; i++) array[i] = i;
#pragma omp target device(d) map(from : initial) map(tofrom : sum) map(to : array)
    {
      initial = omp_is_initial_device();
      for (int i = 0; i < N; i++) sum += array[i];
    }
    CHECK_EQ(initial, 0);
    CHECK_EQ(sum, N * (N - 1) / 2);
  }
}

/* Host and device take turns on one variable. */
static void chain(void) {
  int x = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < CHAIN; i++) {
#pragma omp task depend(inout : x) shared(x, wrong) firstprivate(i)
      wrong += x++ != 4 * i;
#pragma omp target enter data map(to : x) depend(inout : x) nowait
#pragma omp target nowait map(tofrom : x) depend(inout : x)
      x += 1;
#pragma omp target nowait map(tofrom : x) depend(inout : x)
      x += 2;
#pragma omp target exit data map(from : x) depend(inout : x) nowait
    }
#pragma omp taskwait
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(x, 4 * CHAIN);
}

static void many(void) {
  static int array[N];
  memset(array, 0, sizeof array);
#pragma omp target data map(tofrom : array)
  {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 100; i++) {
#pragma omp target nowait map(tofrom : array[i * 10 : 10]) firstprivate(i)
      for (int j = 0; j < 10; j++) array[i * 10 + j] += i;
    }
#pragma omp target update from(array)
    for (int i = 0; i < N; i++) CHECK_EQ(array[i], i / 10);
  }
#pragma omp target nowait map(tofrom : array)
  array[0] = 77;
#pragma omp taskwait
  CHECK_EQ(array[0], 77);
}

static void routines(void) {
  int host = omp_get_initial_device(), source[N], back[N] = {0};
  for (int i = 0; i < N; i++) source[i] = i;
  int* memory = omp_target_alloc(sizeof source, 0);
  CHECK(memory != NULL);
  CHECK_EQ(omp_target_memcpy(memory, source, sizeof source, 0, 0, 0, host), 0);
#pragma omp target device(0) is_device_ptr(memory)
  for (int i = 0; i < N; i++) memory[i]++;
#pragma omp parallel
#pragma omp single
  {
    CHECK_EQ(omp_target_memcpy_async(back, memory, sizeof back, 0, 0, host, 0, 0, NULL), 0);
#pragma omp taskwait
    CHECK_EQ(back[N - 1], N);
  }
  CHECK_EQ(omp_target_associate_ptr(source, memory, sizeof source, 0, 0), 0);
  CHECK(omp_target_is_present(source, 0));
  CHECK_EQ(omp_target_disassociate_ptr(source, 0), 0);
  CHECK(!omp_target_is_present(source, 0));
  omp_target_free(memory, 0);
}

int main(void) {
  on_a_device();
  chain();
  many();
  routines();
  return 0;
}
