/* SPDX-License-Identifier: Apache-2.0
 *
 * The strict task scheduling constraint where the most urgent task runs in place of a new one (MARLINE_MAX_READY=2):
 * not over a tied creator that it does not descend from. One thread.
 *
 * Covers: marline priorities
 */
#include "../check.h"
#include <omp.h>

static _Atomic int inside, ran;

int main(void) {
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task priority(5)
    {
      CHECK_EQ(inside, 0);
      ran++;
    }
#pragma omp task priority(9)
    {
      inside = 1;
#pragma omp task
      ran++;
      inside = 0;
    }
  }
  CHECK_EQ(ran, 2);
  return 0;
}
