/* SPDX-License-Identifier: Apache-2.0
 *
 * On one thread, the successor of the task that has just ended runs next: a fan of chains is run chain by chain, though
 * it is created step by step across all chains.
 *
 * Covers: marline locality
 */
#include "../check.h"
#include "log.h"

enum { CHAINS = 10, STEPS = 20 };

static int links[CHAINS];

int main(void) {
  check_runtime();
#pragma omp parallel num_threads(1)
#pragma omp single
  {
    for (int step = 0; step < STEPS; step++) {
      for (int chain = 0; chain < CHAINS; chain++) {
#pragma omp task depend(inout : links[chain]) firstprivate(step, chain)
        log_add(chain * STEPS + step);
      }
    }
  }
  CHECK_EQ(log_count, CHAINS * STEPS);
  for (int i = 0; i < log_count; i++) {
    CHECK_EQ(log_entries[i] % STEPS, i % STEPS);
    if (i % STEPS != 0) CHECK_EQ(log_entries[i], log_entries[i - 1] + 1);
  }
  return 0;
}
