/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions of one taskgroup that several threads run at the same time, and each of which takes long between its look at
 * the sum and its write. Clang's code passes the variable itself to each of them instead of a copy.
 *
 * Covers: target(in_reduction, nowait), target(in_reduction), taskgroup(task_reduction), task(in_reduction)
 */
#include "../device.h"

enum { kTasks = 400 };

#pragma omp declare target
static void slowly_add(long* sum, long what) {
  long old = *(volatile long*)sum;
  for (volatile int i = 0; i < 2000; i++) {
  }
  *(volatile long*)sum = old + what;
}
#pragma omp end declare target

int main(void) {
  long sum = 1;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < kTasks; i++) {
#pragma omp target nowait in_reduction(+ : sum)
      slowly_add(&sum, 1);
#pragma omp task in_reduction(+ : sum)
      slowly_add(&sum, 1000);
#pragma omp task shared(sum)
      {
#pragma omp target in_reduction(+ : sum)
        slowly_add(&sum, 1000000);
      }
    }
  }
  CHECK_EQ(sum, 1 + kTasks * 1001001L);
  return 0;
}
