/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions that take part in a task reduction.
 *
 * Covers: target(in_reduction, nowait), taskgroup(task_reduction), task(in_reduction)
 */
#include "../device.h"

int main(void) {
  int sum = 1;
  long many = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum, many)
    {
      for (int i = 0; i < 10; i++) {
#pragma omp target in_reduction(+ : sum) firstprivate(i)
        sum += i;
#pragma omp target nowait in_reduction(+ : many) firstprivate(i)
        many += 10 * i;
#pragma omp task in_reduction(+ : sum) firstprivate(i)
        sum += 100;
      }
    }
  }
  CHECK_EQ(sum, 1 + 45 + 1000);
  CHECK_EQ(many, 450);
  return 0;
}
