/* SPDX-License-Identifier: Apache-2.0
 *
 * Example: one of several chains of tasks ends with a task that matters, and says so. With MARLINE_PRIORITY=SA the
 * whole chain runs first; without, its place is as good as any other's. On one thread the order is exact.
 *
 * Covers: marline priorities, task(priority)
 */
#include "../check.h"
#include <omp.h>

enum { kChains = 8, kSteps = 4, kUrgent = 2 };

static char input[1], data[kChains];
static int loaded, work_done[kChains], finished[kChains], count;

static void load(void) { loaded = 1; }
static void work(int chain) { work_done[chain] += loaded; }
static void finish(int chain) { finished[count++] = chain; }

int main(void) {
#pragma omp parallel num_threads(1)
  {
#pragma omp task depend(out : input[0])
    load();
    for (int chain = 0; chain < kChains; chain++) {
      for (int step = 0; step < kSteps; step++) {
#pragma omp task depend(in : input[0]) depend(inout : data[chain])
        work(chain);
      }
      int matters = chain == kUrgent;
#pragma omp task depend(in : data[chain]) priority(matters)
      finish(chain);
    }
  }
  for (int chain = 0; chain < kChains; chain++) CHECK_EQ(work_done[chain], kSteps);
  CHECK_EQ(count, kChains);
  printf("first of %d to finish: %d\n", kChains, finished[0]);
  if (omp_get_max_task_priority() > 0) CHECK_EQ(finished[0], kUrgent);
  return 0;
}
