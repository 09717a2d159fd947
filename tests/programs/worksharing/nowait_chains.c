/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of worksharing constructs without barriers, much longer than any runtime's ring of construct descriptors: a
 * slow thread must still find every construct that the others have left.
 *
 * Covers: for(schedule:static/dynamic/guided/runtime, nowait), sections(nowait), section, single(nowait),
 *  omp_set_schedule
 */
#include "../check.h"
#include <omp.h>

enum { kChain = 200, kTrip = 40 };

static int loop_hits[kChain][kTrip];
static int single_hits[kChain], section_hits[kChain][3];

/* Each thread lags in turn, so that the distance between first and last grows to the whole chain. */
static void lag(int step) {
  if (step % 20 != 0 || (step / 20) % omp_get_num_threads() != omp_get_thread_num()) return;
  usleep(300);
}

static void loops(void) {
#pragma omp parallel
  {
    for (int step = 0; step < kChain; step++) {
      lag(step);
      switch (step % 4) {
        case 0:
#pragma omp for schedule(dynamic, 3) nowait
          for (int i = 0; i < kTrip; i++)
#pragma omp atomic
            loop_hits[step][i]++;
          break;
        case 1:
#pragma omp for schedule(guided) nowait
          for (int i = 0; i < kTrip; i++)
#pragma omp atomic
            loop_hits[step][i]++;
          break;
        case 2:
#pragma omp for schedule(static) nowait
          for (int i = 0; i < kTrip; i++)
#pragma omp atomic
            loop_hits[step][i]++;
          break;
        default:
#pragma omp for schedule(runtime) nowait
          for (int i = 0; i < kTrip; i++)
#pragma omp atomic
            loop_hits[step][i]++;
      }
    }
  }
}

static void singles_and_sections(void) {
#pragma omp parallel
  for (int step = 0; step < kChain; step++) {
    lag(step);
#pragma omp single nowait
    {
#pragma omp atomic
      single_hits[step]++;
    }
#pragma omp sections nowait
    {
#pragma omp atomic
      section_hits[step][0]++;
#pragma omp section
#pragma omp atomic
      section_hits[step][1]++;
#pragma omp section
#pragma omp atomic
      section_hits[step][2]++;
    }
  }
}

/* A team that ends right after a nowait construct must leave no state for the next team. */
static void short_regions(void) {
  int total = 0;
  for (int round = 0; round < 200; round++) {
#pragma omp parallel
    {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 3; i++)
#pragma omp atomic
        total++;
#pragma omp single nowait
#pragma omp atomic
      total += 10;
    }
  }
  CHECK_EQ(total, 200 * 13);
}

int main(void) {
  omp_set_schedule(omp_sched_dynamic, 2);
  for (int round = 1; round <= 3; round++) {
    loops();
    singles_and_sections();
    for (int step = 0; step < kChain; step++) {
      for (int i = 0; i < kTrip; i++) CHECK_EQ(loop_hits[step][i], round);
      CHECK_EQ(single_hits[step], round);
      for (int s = 0; s < 3; s++) CHECK_EQ(section_hits[step][s], round);
    }
  }
  short_regions();
  return 0;
}
