/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices that are used for the first time in the midst of a program: by a task, while others are queued, and while
 * another device is at work. The program's tasks run once each, in the program, and no region's end is lost.
 *
 * Covers: parallel, single, task(shared, firstprivate), target(map, device, nowait), taskyield, taskwait,
 *  omp_get_num_devices
 */
#include "../device.h"
#include <sys/mman.h>

enum { kTasks = 400 };

/* A process that takes part by mistake counts in memory that all share. */
static void by_a_task(void) {
  int* count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int reached = 0;
  CHECK(count != MAP_FAILED);
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < kTasks; i++) {
#pragma omp task firstprivate(i, count) shared(reached)
    {
      usleep(200);
      if (i == kTasks / 4) {
        int x = 0;
#pragma omp target map(tofrom : x) device(0)
        x = 5;
        reached = x;
      }
      __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    }
  }
  CHECK_EQ(reached, 5);
  CHECK_EQ(*count, kTasks);
}

/* The other device starts while the first one's region runs; that ends before the program looks for it. */
static void beside_another(void) {
  int x = 0, y = 0, last = omp_get_num_devices() - 1;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target device(0) nowait map(tofrom : x)
    {
      usleep(300000);
      x = 2;
    }
#pragma omp taskyield
    usleep(100000);
#pragma omp target device(last) map(tofrom : y)
    y = 1;
    usleep(400000);
#pragma omp taskwait
    CHECK_EQ(x, 2);
    CHECK_EQ(y, 1);
  }
}

int main(void) {
  by_a_task();
  beside_another();
  return 0;
}
