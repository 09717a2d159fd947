/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines about places and the formats of affinity. What they say of each other must fit: every place has its
 * processors, each thread of a bound team lies in a place of its partition. Without places all answers are empty.
 *
 * Covers: omp_get_num_places, omp_get_place_num_procs, omp_get_place_proc_ids, omp_get_place_num,
 *  omp_get_partition_num_places, omp_get_partition_place_nums, omp_get_proc_bind, omp_set_affinity_format,
 *  omp_get_affinity_format, omp_display_affinity, omp_capture_affinity, OMP_PLACES, OMP_PROC_BIND
 */
#include "../check.h"
#include <omp.h>

enum { kMost = 4096 };

static void places(void) {
  int count = omp_get_num_places();
  CHECK_RANGE(count, 1, kMost);
  for (int place = 0; place < count; place++) {
    int processors = omp_get_place_num_procs(place);
    CHECK_RANGE(processors, 1, kMost);
    int* ids = malloc((size_t)processors * sizeof *ids);
    for (int i = 0; i < processors; i++) ids[i] = -1;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < processors; i++) CHECK(ids[i] >= 0);
    free(ids);
  }
  CHECK_EQ(omp_get_place_num_procs(-1), 0);
  CHECK_EQ(omp_get_place_num_procs(count), 0);
}

/* A team of one keeps its thread where it is. */
static void threads(void) {
  CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_close);
#pragma omp parallel
  {
    int partition[kMost], size = omp_get_partition_num_places(), mine = omp_get_place_num(), found = 0;
    CHECK_RANGE(size, 1, omp_get_num_places());
    omp_get_partition_place_nums(partition);
    for (int i = 0; i < size; i++) {
      CHECK_RANGE(partition[i], 0, omp_get_num_places() - 1);
      found += partition[i] == mine;
    }
    CHECK(found == 1 || omp_get_num_threads() == 1);
  }
}

static void formats(void) {
  char buffer[256];
  omp_set_affinity_format("thread %n of %N.");
  CHECK_EQ(omp_get_affinity_format(buffer, sizeof buffer), strlen("thread %n of %N."));
  CHECK_EQ(strcmp(buffer, "thread %n of %N."), 0);
  CHECK_EQ(omp_capture_affinity(buffer, sizeof buffer, NULL), strlen("thread 0 of 1."));
  CHECK_EQ(strcmp(buffer, "thread 0 of 1."), 0);
  CHECK_EQ(omp_capture_affinity(buffer, 4, "%{thread_num}7"), 2);
  omp_display_affinity("shown by %n\n");
}

int main(void) {
  places();
  threads();
  formats();
  return 0;
}
