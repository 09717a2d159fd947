/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines with 8-byte integers that flang's omp_lib calls from LLVM 24 on: by value, and by reference with a `_`.
 * They do what the routines of OpenMP do with the same value; a value that no int has counts as the nearest int. Then
 * what variables say about one device (OpenMP 6.0, section 4.3), as LLVM 24's libraries ask it.
 *
 * Covers: LLVM routines with wide integers
 */
#include "../check.h"
#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

typedef void* mask_t; /* kmp_affinity_mask_t; GCC's omp.h has none */
void kmp_create_affinity_mask(mask_t* mask);
void kmp_destroy_affinity_mask(mask_t* mask);
int kmp_get_blocktime(void), kmp_get_library(void);
size_t kmp_get_stacksize_s(void);
const char* __kmpc_get_device_env(const char* name, int device);

/* Subroutines, and functions of one argument. */
#define SETTERS(m)                                                                                             \
  m(set_num_threads) m(set_max_active_levels) m(set_default_device) m(set_num_teams) m(set_teams_thread_limit) \
      m(set_stacksize) m(set_blocktime) m(set_library) m(set_disp_num_buffers)
#define GETTERS(m) m(get_ancestor_thread_num) m(get_team_size) m(get_place_num_procs)
#define MASKS(m) m(set) m(unset) m(get)
#define DECLARE_SETTER(name) void kmp_##name##_8(int64_t), kmp_##name##_8_(const int64_t*);
#define DECLARE_GETTER(name) int kmp_##name##_8(int64_t), kmp_##name##_8_(const int64_t*);
#define DECLARE_MASK(name)                                 \
  int kmp_##name##_affinity_mask_proc_8(int64_t, mask_t*); \
  int kmp_##name##_affinity_mask_proc_8_(const int64_t*, mask_t*);
SETTERS(DECLARE_SETTER)
GETTERS(DECLARE_GETTER)
MASKS(DECLARE_MASK)
void kmpc_set_num_threads_8(int64_t);
void kmp_set_schedule_8(int, int64_t), kmp_set_schedule_8_(const int*, const int64_t*);
void kmp_get_schedule_8(int*, int64_t*), kmp_get_schedule_8_(int*, int64_t*);
int kmp_pause_resource_8(int, int64_t), kmp_pause_resource_8_(const int*, const int64_t*);
void kmp_get_place_proc_ids_8(int64_t, int64_t*), kmp_get_place_proc_ids_8_(const int64_t*, int64_t*);
void kmp_get_partition_place_nums_8(int64_t*), kmp_get_partition_place_nums_8_(int64_t*);

enum { kMost = 1024 }; /* processors of a place, and places */

static const int64_t large = INT64_C(1) << 40;

/* By value with `value`, then by reference with `next`; `get` is what OpenMP's routine says after each. */
#define SET_BOTH(name, get, value, next) \
  do {                                   \
    const int64_t by_reference = (next); \
    kmp_##name##_8(value);               \
    CHECK_EQ(get, value);                \
    kmp_##name##_8_(&by_reference);      \
    CHECK_EQ(get, next);                 \
  } while (0)

static void settings(void) {
  SET_BOTH(set_num_threads, omp_get_max_threads(), 3, 5);
  kmpc_set_num_threads_8(4);
  CHECK_EQ(omp_get_max_threads(), 4);
  SET_BOTH(set_max_active_levels, omp_get_max_active_levels(), 2, 3);
  kmp_set_max_active_levels_8(large);
  CHECK_EQ(omp_get_max_active_levels(), omp_get_supported_active_levels());
  SET_BOTH(set_default_device, omp_get_default_device(), 7, 9);
  kmp_set_default_device_8(large);
  CHECK_EQ(omp_get_default_device(), INT_MAX);
  SET_BOTH(set_num_teams, omp_get_max_teams(), 6, 8);
  SET_BOTH(set_teams_thread_limit, omp_get_teams_thread_limit(), 2, 3);
  SET_BOTH(set_blocktime, kmp_get_blocktime(), 10, 20);
  SET_BOTH(set_library, kmp_get_library(), 2, 3);
  const int64_t buffers = 9;
  kmp_set_disp_num_buffers_8(buffers); /* a hint: no result can be seen */
  kmp_set_disp_num_buffers_8_(&buffers);
  int kind = 0;
  int64_t chunk = -1;
  kmp_set_schedule_8(omp_sched_dynamic, 17);
  kmp_get_schedule_8(&kind, &chunk);
  CHECK(kind == omp_sched_dynamic && chunk == 17);
  const int guided = omp_sched_guided;
  kmp_set_schedule_8_(&guided, &large);
  kmp_get_schedule_8_(&kind, &chunk);
  CHECK(kind == omp_sched_guided && chunk == INT_MAX);
}

static void places(void) {
  const int64_t first = 0, none = -large;
  for (int64_t place = -1; place <= omp_get_num_places(); place++) {
    CHECK_EQ(kmp_get_place_num_procs_8(place), omp_get_place_num_procs((int)place));
    CHECK_EQ(kmp_get_place_num_procs_8_(&place), omp_get_place_num_procs((int)place));
  }
  CHECK_EQ(kmp_get_place_num_procs_8(none), 0);
  const int count = omp_get_place_num_procs(0);
  int ids[kMost];
  int64_t by_value[kMost], by_reference[kMost];
  CHECK(count > 0 && count <= kMost);
  omp_get_place_proc_ids(0, ids);
  kmp_get_place_proc_ids_8(0, by_value);
  kmp_get_place_proc_ids_8_(&first, by_reference);
  for (int i = 0; i < count; i++) CHECK(by_value[i] == ids[i] && by_reference[i] == ids[i]);
  const int partition = omp_get_partition_num_places();
  CHECK(partition > 0 && partition <= kMost);
  omp_get_partition_place_nums(ids);
  kmp_get_partition_place_nums_8(by_value);
  kmp_get_partition_place_nums_8_(by_reference);
  for (int i = 0; i < partition; i++) CHECK(by_value[i] == ids[i] && by_reference[i] == ids[i]);
}

static void levels(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  for (int64_t level = -1; level <= 3; level++) {
    CHECK_EQ(kmp_get_ancestor_thread_num_8(level), omp_get_ancestor_thread_num((int)level));
    CHECK_EQ(kmp_get_ancestor_thread_num_8_(&level), omp_get_ancestor_thread_num((int)level));
    CHECK_EQ(kmp_get_team_size_8(level), omp_get_team_size((int)level));
    CHECK_EQ(kmp_get_team_size_8_(&level), omp_get_team_size((int)level));
  }
  CHECK_EQ(kmp_get_team_size_8(large), -1);
  CHECK_EQ(kmp_get_ancestor_thread_num_8(-large), -1);
}

static void masks(void) {
  const int64_t five = 5;
  mask_t mask;
  kmp_create_affinity_mask(&mask);
  CHECK_EQ(kmp_set_affinity_mask_proc_8(3, &mask), 0);
  CHECK_EQ(kmp_set_affinity_mask_proc_8_(&five, &mask), 0);
  CHECK(kmp_get_affinity_mask_proc_8(3, &mask) == 1 && kmp_get_affinity_mask_proc_8_(&five, &mask) == 1);
  CHECK_EQ(kmp_unset_affinity_mask_proc_8(3, &mask), 0);
  CHECK_EQ(kmp_unset_affinity_mask_proc_8_(&five, &mask), 0);
  CHECK(kmp_get_affinity_mask_proc_8(3, &mask) == 0 && kmp_get_affinity_mask_proc_8_(&five, &mask) == 0);
  CHECK_EQ(kmp_set_affinity_mask_proc_8(large, &mask), -1);
  kmp_destroy_affinity_mask(&mask);
}

/* Only outside of regions. The stack of threads is set before there are any. */
static void resources(void) {
  const int64_t host = omp_get_initial_device(), wide = INT64_C(5) << 20;
  kmp_set_stacksize_8(INT64_C(3) << 20);
  CHECK_EQ(kmp_get_stacksize_s(), 3 << 20);
  kmp_set_stacksize_8_(&wide);
  CHECK_EQ(kmp_get_stacksize_s(), 5 << 20);
  const int soft = omp_pause_soft;
  CHECK_EQ(kmp_pause_resource_8(soft, host), 0);
  CHECK_EQ(kmp_pause_resource_8_(&soft, &host), 0);
  CHECK(kmp_pause_resource_8(soft, large) != 0);
}

static void says(const char* name, int device, const char* value) {
  const char* said = __kmpc_get_device_env(name, device);
  CHECK(value == NULL ? said == NULL : said != NULL && strcmp(said, value) == 0);
}

static void variables(void) {
  says("OMP_SCHEDULE", 0, NULL);
  setenv("OMP_SCHEDULE_ALL", "guided", 1);
  says("OMP_SCHEDULE", -1, "guided");
  says("OMP_SCHEDULE", 0, "guided");
  setenv("OMP_SCHEDULE_DEV", "static", 1);
  setenv("OMP_SCHEDULE_DEV_1", "dynamic", 1);
  says("OMP_SCHEDULE", -1, "guided");
  says("OMP_SCHEDULE", 0, "static");
  says("OMP_SCHEDULE", 1, "dynamic");
  says("OMP_SCHEDULE", 11, "static");
  says("OMP_SCHEDULE", -2, NULL);
  setenv("OMP_SCHEDULE", "auto", 1);
  says("OMP_SCHEDULE", -1, "auto");
  setenv("OMP_TARGET_OFFLOAD_ALL", "default", 1); /* of the whole program */
  says("OMP_TARGET_OFFLOAD", 0, NULL);
  says("HOME", -1, NULL);
  CHECK(__kmpc_get_device_env(NULL, 0) == NULL);
}

int main(void) {
  resources();
  settings();
  levels();
  masks();
  places();
  variables();
  return 0;
}
