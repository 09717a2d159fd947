/* SPDX-License-Identifier: Apache-2.0
 *
 * Several devices: each has its own memory and global variables, knows its number, and works while the others do. Run
 * with four devices and kernels of 50 ms; with an argument, a kernel also uses another device's memory.
 */
#include "emulated.h"

#define DEVICES 4
#define N 1000

int counter = 5;
#pragma omp declare target(counter)

static void numbers(void) {
  for (int d = 0; d < DEVICES; d++) {
    int number = -1, seen = -1;
#pragma omp target device(d) map(from : number, seen)
    {
      number = omp_get_device_num();
      counter += d;
      seen = counter;
    }
    CHECK_EQ(number, d);
    CHECK_EQ(seen, 5 + d);
  }
  CHECK_EQ(counter, 5);
}

/* The ranges of two devices never meet: a pointer tells its device. */
static void memory(int peers) {
  int *parts[DEVICES], host = omp_get_initial_device(), back[N];
  for (int d = 0; d < DEVICES; d++) {
    int* part = parts[d] = omp_target_alloc(N * sizeof(int), d);
    CHECK(part != NULL);
#pragma omp target device(d) is_device_ptr(part)
    for (int i = 0; i < N; i++) part[i] = 1000 * d + i;
  }
  for (int d = 0; d < DEVICES; d++) {
    CHECK_EQ(omp_target_memcpy(back, parts[d], sizeof back, 0, 0, host, d), 0);
    for (int i = 0; i < N; i++) CHECK_EQ(back[i], 1000 * d + i);
  }
  CHECK_EQ(omp_target_memcpy(parts[3], parts[1], sizeof back, 0, 0, 3, 1), 0);
  CHECK_EQ(omp_target_memcpy(back, parts[3], sizeof back, 0, 0, host, 3), 0);
  CHECK_EQ(back[N - 1], 1000 + N - 1);
  if (peers) { /* the copy has opened device 3 to device 1 */
    int* part = parts[3];
#pragma omp target device(1) is_device_ptr(part)
    for (int i = 0; i < N; i++) part[i] += 7;
    CHECK_EQ(omp_target_memcpy(back, part, sizeof back, 0, 0, host, 3), 0);
    CHECK_EQ(back[N - 1], 1000 + N - 1 + 7);
  }
  for (int d = 0; d < DEVICES; d++) omp_target_free(parts[d], d);
}

static void side_by_side(void) {
  int sums[DEVICES] = {0};
  double start = omp_get_wtime();
#pragma omp parallel num_threads(DEVICES)
#pragma omp single
  for (int d = 0; d < DEVICES; d++) {
#pragma omp target device(d) nowait map(tofrom : sums[d : 1])
    sums[d] += d + 1;
  }
  double milliseconds = (omp_get_wtime() - start) * 1e3;
  for (int d = 0; d < DEVICES; d++) CHECK_EQ(sums[d], d + 1);
  CHECK(milliseconds >= 50);
  CHECK_RANGE(emulated(kMostKernels), 2, DEVICES); /* of all devices, and one at a time until here */
}

int main(int argc, char** argv) {
  (void)argv;
  CHECK_EQ(omp_get_num_devices(), DEVICES);
  numbers();
  memory(argc > 1);
  side_by_side();
  CHECK_EQ(emulated(kKernels), 3 * DEVICES + (argc > 1));
  return 0;
}
