/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a construct runs: on every device by its number, on the default device, on the host for the initial device and
 * for a false if clause; and each device has its own data.
 *
 * Covers: target(device, if), target data(device, if), target enter data(device, if), target exit data(device, if),
 *  target update(device, if), omp_get_num_devices, omp_get_initial_device, omp_get_default_device,
 *  omp_set_default_device, omp_get_device_num, omp_is_initial_device, OMP_TARGET_OFFLOAD
 */
#include "../device.h"

#define N 50

static int devices, host;

static void every_device(void) {
  int array[N];
  for (int d = 0; d < devices; d++) {
    int number = -5, initial = -5, count = -5;
    memset(array, 0, sizeof array);
#pragma omp target device(d) map(from : number, initial, count) map(tofrom : array)
    {
      number = omp_get_device_num();
      initial = omp_is_initial_device();
      count = 0;
      for (int i = 0; i < N; i++) array[i] = ++count;
    }
    CHECK_EQ(initial, 0);
    CHECK_EQ(array[N - 1], N);
    (void)number;
  }
}

/* The same variable on all devices, with another value on each. */
static void own_data(void) {
  int x = 0, seen = 0;
  for (int d = 0; d < devices; d++) {
    x = 100 + d;
#pragma omp target enter data map(to : x) device(d)
  }
  x = 0;
  for (int d = 0; d < devices; d++) {
#pragma omp target map(to : x) map(from : seen) device(d)
    seen = x++;
    CHECK_EQ(seen, 100 + d);
    CHECK(omp_target_is_present(&x, d));
  }
  for (int d = devices - 1; d >= 0; d--) {
#pragma omp target update from(x) device(d)
    CHECK_EQ(x, 101 + d);
#pragma omp target exit data map(from : x) device(d)
    CHECK_EQ(omp_target_is_present(&x, d), 0);
    CHECK(d == 0 || omp_target_is_present(&x, d - 1));
  }
}

static void default_device(void) {
  int before = omp_get_default_device(), last = devices - 1, x = 1;
  CHECK_RANGE(before, 0, devices - 1);
  omp_set_default_device(last);
  CHECK_EQ(omp_get_default_device(), last);
#pragma omp target enter data map(to : x)
  CHECK(omp_target_is_present(&x, last));
  CHECK(last == 0 || !omp_target_is_present(&x, 0));
#pragma omp target exit data map(delete : x) device(last)
  int initial = -1;
  omp_set_default_device(host);
#pragma omp target map(tofrom : x, initial)
  {
    x++;
    initial = omp_is_initial_device();
  }
  CHECK_EQ(initial, 1);
  CHECK_EQ(x, 2);
  omp_set_default_device(before);
}

/* On the host, a map does nothing and a region sees the host's variables. */
static void on_the_host(int condition) {
  int x = 1, initial = -1, array[N] = {0};
  int* where = array;
#pragma omp target device(host) map(tofrom : x, initial) map(to : array)
  {
    x = 2;
    array[1] = 3;
    initial = omp_is_initial_device();
  }
  CHECK_EQ(x, 2);
  CHECK_EQ(array[1], 3);
  CHECK_EQ(initial, 1);
#pragma omp target if (condition) map(tofrom : x, initial) map(to : array)
  {
    x = 4;
    array[2] = 5;
    initial = omp_is_initial_device();
  }
  CHECK_EQ(x, 4);
  CHECK_EQ(array[2], 5);
  CHECK_EQ(initial, 1);
#pragma omp target if (!condition) map(tofrom : x, initial) map(to : array)
  {
    x = 6;
    array[2] = 7;
    initial = omp_is_initial_device();
  }
  CHECK_EQ(x, 6);
  CHECK_EQ(array[2], 5);
  CHECK_EQ(initial, 0);
#pragma omp target data map(tofrom : array) device(host) use_device_ptr(where)
  CHECK(where == array);
#pragma omp target enter data map(to : array) device(host)
#pragma omp target update to(array) device(host)
#pragma omp target exit data map(from : array) device(host)
  CHECK_EQ(array[2], 5);
#pragma omp target nowait if (condition) map(tofrom : x)
  x++;
#pragma omp taskwait
  CHECK_EQ(x, 7);
}

static void data_conditions(int condition) {
  int x = 1;
#pragma omp target data map(tofrom : x) if (condition)
  CHECK_PRESENT(&x, 0);
#pragma omp target data map(tofrom : x) if (!condition)
  {
    CHECK_PRESENT(&x, 1);
    x = 2;
#pragma omp target update to(x) if (condition)
#pragma omp target map(tofrom : x)
    x += 10;
#pragma omp target update from(x) if (condition)
    CHECK_EQ(x, 2);
#pragma omp target update from(x) if (!condition)
    CHECK_EQ(x, 11);
  }
#pragma omp target enter data map(to : x) if (condition)
  CHECK_PRESENT(&x, 0);
#pragma omp target enter data map(to : x) if (!condition)
  CHECK_PRESENT(&x, 1);
#pragma omp target exit data map(from : x) if (condition)
  CHECK_PRESENT(&x, 1);
#pragma omp target exit data map(from : x) if (!condition)
  CHECK_PRESENT(&x, 0);
  /* The region on the host sees its own variable although a copy is on the device. */
#pragma omp target enter data map(to : x)
  x = 50;
#pragma omp target if (target : condition) map(tofrom : x)
  x++;
  CHECK_EQ(x, 51);
#pragma omp target exit data map(delete : x)
}

int main(void) {
  devices = omp_get_num_devices();
  host = omp_get_initial_device();
  CHECK(devices > 0);
  CHECK_EQ(host, devices);
  CHECK(omp_is_initial_device());
  CHECK_EQ(omp_get_device_num(), host);
  every_device();
  own_data();
  default_device();
  on_the_host(0);
  data_conditions(0);
  return 0;
}
