/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions under way at the same time that take part in a task reduction, and host tasks beside them. All are a
 * thread's, so they have one copy of the sum.
 *
 * Covers: target(in_reduction, nowait, device), target(in_reduction), taskgroup(task_reduction), task(in_reduction)
 */
#include "../device.h"

enum { kRounds = 6 };

#pragma omp declare target
static long slowly(long sum, long what) {
  volatile long left = 3000000;
  while (left > 0) left--;
  return sum + what;
}
#pragma omp end declare target

int main(void) {
  long sum = 1;
  int devices = omp_get_num_devices();
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < kRounds; i++) {
      int device = devices == 0 ? omp_get_initial_device() : i % devices;
#pragma omp target nowait in_reduction(+ : sum) device(device)
      sum = slowly(sum, 1);
#pragma omp task in_reduction(+ : sum)
      sum += 100;
#pragma omp target in_reduction(+ : sum) device(device)
      sum = slowly(sum, 10000);
    }
  }
  CHECK_EQ(sum, 1 + kRounds * 10101);
  return 0;
}
