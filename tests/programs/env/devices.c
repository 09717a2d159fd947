/* SPDX-License-Identifier: Apache-2.0
 *
 * The device routines where the host is the only device, and the routines about tools and resources.
 *
 * Covers: omp_set_default_device, omp_get_default_device, omp_get_num_devices, omp_get_device_num,
 *  omp_get_initial_device, omp_is_initial_device, omp_pause_resource, omp_pause_resource_all, omp_display_env,
 *  omp_set_nested, omp_get_nested
 * Covers (gcc): omp_target_alloc, omp_target_free, omp_target_is_present, omp_target_memcpy, omp_target_memcpy_rect,
 *  omp_target_associate_ptr, omp_target_disassociate_ptr
 * Covers (clang): omp_control_tool, omp_in_explicit_task
 */
#include "../child.h"
#include <omp.h>

int omp_in_explicit_task(void); /* of OpenMP 5.2; not in LLVM's older headers */

static void numbers(void) {
  int host = omp_get_initial_device();
  CHECK_EQ(host, omp_get_num_devices());
  CHECK_EQ(omp_get_device_num(), host);
  CHECK_EQ(omp_is_initial_device(), 1);
  int before = omp_get_default_device();
  omp_set_default_device(host);
  CHECK_EQ(omp_get_default_device(), host);
  omp_set_default_device(before);
}

#ifndef __clang__ /* Clang's programs get these from libomptarget */
static void memory(void) {
  int host = omp_get_initial_device();
  double from[12], *to = omp_target_alloc(sizeof from, host);
  CHECK(to != NULL);
  for (int i = 0; i < 12; i++) {
    from[i] = i;
    to[i] = -1;
  }
  CHECK_EQ(omp_target_is_present(from, host), 1);
  CHECK_EQ(omp_target_memcpy(to, from, 2 * sizeof *to, sizeof *to, 5 * sizeof *from, host, host), 0);
  CHECK_EQ(to[0], -1);
  CHECK_EQ(to[1], 5);
  CHECK_EQ(to[2], 6);
  CHECK_EQ(to[3], -1);
  /* The lower right 2 x 2 of a 3 x 4 matrix to the upper left of another. */
  size_t volume[] = {2, 2}, to_offsets[] = {0, 0}, from_offsets[] = {1, 2}, extents[] = {3, 4};
  CHECK_EQ(
      omp_target_memcpy_rect(to, from, sizeof *to, 2, volume, to_offsets, from_offsets, extents, extents, host, host),
      0);
  CHECK_EQ(to[0], 6);
  CHECK_EQ(to[1], 7);
  CHECK_EQ(to[4], 10);
  CHECK_EQ(to[5], 11);
  CHECK_EQ(to[6], -1);
  CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, host) >= 3);
  CHECK(omp_target_associate_ptr(from, to, sizeof from, 0, host) != 0); /* the host maps nothing to itself */
  CHECK(omp_target_disassociate_ptr(from, host) != 0);
  omp_target_free(to, host);
}
#else
static void memory(void) {}
#endif

static void resources(void) {
  int before = 0, after = 0;
#pragma omp parallel reduction(+ : before)
  before++;
  CHECK_EQ(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
#pragma omp parallel reduction(+ : after)
  after++;
  CHECK_EQ(after, before);
  CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
#pragma omp parallel reduction(+ : after)
  after++;
  CHECK_EQ(after, 2 * before);
}

static void tools(void) {
#ifdef __clang__ /* libgomp 12 has neither */
  CHECK_EQ(omp_control_tool(omp_control_tool_start, 0, NULL), omp_control_tool_notool);
  CHECK_EQ(omp_in_explicit_task(), 0);
  int inside = -1;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(inside)
  inside = omp_in_explicit_task();
  CHECK_EQ(inside, 1);
#endif
  static Child child;
  char* variables[] = {NULL};
  run_child(&child, "display", variables);
  CHECK_EQ(child.status, 0);
  CHECK_LINE(&child, "OMP_NUM_THREADS");
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void nested(void) {
  omp_set_nested(1);
  CHECK_EQ(omp_get_nested(), omp_get_max_active_levels() > 1);
  omp_set_nested(0);
  CHECK_EQ(omp_get_nested(), 0);
  CHECK_EQ(omp_get_max_active_levels(), 1);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "display") == 0) {
    omp_display_env(0);
    return 0;
  }
  numbers();
  memory();
  resources();
  tools();
  nested();
  return 0;
}
