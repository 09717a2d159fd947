/* SPDX-License-Identifier: Apache-2.0
 *
 * See host.h. No state.
 */
#include "host.h"

#include "lookup.h"

unsigned long long host_run(const Tables* tables, long long lookups) {
  unsigned long long sum = 0;
#pragma omp parallel for schedule(dynamic, 100) reduction(+ : sum)
  for (long long lookup = 0; lookup < lookups; ++lookup) {
    sum += lookup_channel(tables, lookup);
  }
  return sum;
}
