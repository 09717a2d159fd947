/* SPDX-License-Identifier: Apache-2.0
 *
 * OMP_TARGET_OFFLOAD=disabled (OpenMP 5.2, 21.2.8): the program with code for devices has none. Its regions run on the
 * host, on the host's variables, whatever device they name, and nothing is said of it.
 *
 * Covers: OMP_TARGET_OFFLOAD, omp_get_num_devices, omp_is_initial_device, target(device, nowait), target data(map),
 *  target enter data(map:to), target exit data(map:delete), target update(to, from)
 */
#include "../../child.h"
#include <omp.h>

#define N 10

static int on_the_host(int device) {
  int initial = 0, x = 1, array[N] = {0};
#pragma omp target enter data map(to : x) device(device)
  x = 2;
#pragma omp target update from(x) device(device)
  CHECK_EQ(x, 2);
#pragma omp target device(device) map(tofrom : x, initial) map(to : array)
  {
    initial = omp_is_initial_device();
    x += initial;
    array[N - 1] = 5;
  }
  CHECK_EQ(initial, 1);
  CHECK_EQ(array[N - 1], 5);
#pragma omp target update to(x) device(device)
#pragma omp target data map(tofrom : array) device(device)
#pragma omp target nowait device(device) map(tofrom : x)
  x++;
#pragma omp taskwait
#pragma omp target exit data map(delete : x) device(device)
  CHECK_EQ(x, 4);
  return initial;
}

static int child(void) {
  CHECK_EQ(omp_get_num_devices(), 0);
  CHECK_EQ(omp_get_initial_device(), 0);
  CHECK_EQ(omp_get_default_device(), 0);
  CHECK(omp_is_initial_device());
  CHECK(on_the_host(omp_get_default_device()));
  CHECK(on_the_host(3));
  int x = 1;
#pragma omp target map(tofrom : x)
  x += omp_is_initial_device();
  CHECK_EQ(x, 2);
  CHECK(omp_target_is_present(&x, omp_get_initial_device()));
  int* memory = omp_target_alloc(sizeof *memory, omp_get_initial_device());
  CHECK(memory != NULL);
  *memory = 1;
  omp_target_free(memory, omp_get_initial_device());
  puts("done");
  return 0;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return child();
  static Child c;
  char disabled[] = "OMP_TARGET_OFFLOAD=disabled", *variables[] = {disabled, NULL};
  CHECK(omp_get_num_devices() > 0 || getenv("OMP_TARGET_OFFLOAD") == NULL); /* GCC's may have none */
  run_child(&c, "child", variables);
  CHECK(c.exited && c.status == 0);
  CHECK_EQ(strcmp(c.output, "done\n"), 0);
  return 0;
}
