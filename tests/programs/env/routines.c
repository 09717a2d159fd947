/* SPDX-License-Identifier: Apache-2.0
 *
 * The omp_* routines that query and set: clocks, limits, schedules, levels, devices.
 *
 * Covers: omp_set_num_threads, omp_get_max_threads, omp_set_dynamic, omp_get_dynamic, omp_get_cancellation,
 *  omp_set_schedule, omp_get_schedule, omp_get_thread_limit, omp_get_supported_active_levels,
 *  omp_set_max_active_levels, omp_get_max_active_levels, omp_get_num_places, omp_get_num_teams, omp_get_team_num,
 *  omp_get_max_task_priority, omp_in_final, omp_get_wtime, omp_get_wtick, omp_get_num_devices, omp_is_initial_device,
 *  omp_get_initial_device
 */
#include "../check.h"
#include <omp.h>

static void clocks(void) {
  double tick = omp_get_wtick(), start = omp_get_wtime();
  CHECK(tick > 0 && tick < 0.01);
  usleep(20000);
  double elapsed = omp_get_wtime() - start;
  CHECK(elapsed >= 0.019 && elapsed < 10);
  double last = omp_get_wtime();
  for (int i = 0; i < 1000; i++) {
    double now = omp_get_wtime();
    CHECK(now >= last);
    last = now;
  }
}

static void setters(void) {
  for (int n = 1; n < 20; n += 6) {
    omp_set_num_threads(n);
    CHECK_EQ(omp_get_max_threads(), n);
  }
  omp_set_dynamic(1);
  CHECK_EQ(omp_get_dynamic(), 1);
  omp_set_dynamic(0);
  CHECK_EQ(omp_get_dynamic(), 0);
  int supported = omp_get_supported_active_levels();
  CHECK(supported >= 1);
  omp_set_max_active_levels(3); /* more than are supported counts as what is */
  CHECK_EQ(omp_get_max_active_levels(), supported < 3 ? supported : 3);
  omp_set_max_active_levels(1);
  CHECK_EQ(omp_get_max_active_levels(), 1);
  omp_sched_t kind;
  int chunk;
  omp_set_schedule(omp_sched_guided, 11);
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(kind & ~omp_sched_monotonic, omp_sched_guided);
  CHECK_EQ(chunk, 11);
}

static void queries(void) {
  CHECK(omp_get_thread_limit() >= 1);
  CHECK(omp_get_num_procs() >= 1);
  CHECK(omp_get_num_places() >= 0);
  CHECK(omp_get_max_task_priority() >= 0);
  CHECK_EQ(omp_in_final(), 0);
  CHECK_EQ(omp_is_initial_device(), 1);
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
  CHECK_EQ(omp_get_cancellation(), 0);
  CHECK_EQ(omp_get_initial_device(), omp_get_num_devices());
}

int main(void) {
  clocks();
  setters();
  queries();
  return 0;
}
