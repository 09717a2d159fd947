/* SPDX-License-Identifier: Apache-2.0
 *
 * The OMP_* variables that variables.c leaves out, as the routines see them. The program runs itself once per setting.
 *
 * Covers: OMP_NESTED, OMP_PLACES, OMP_PROC_BIND, OMP_AFFINITY_FORMAT, OMP_CANCELLATION,
 *  OMP_DEFAULT_DEVICE, OMP_TARGET_OFFLOAD, OMP_MAX_TASK_PRIORITY, OMP_TOOL, OMP_TOOL_LIBRARIES, OMP_TOOL_VERBOSE_INIT,
 *  OMP_ALLOCATOR, OMP_NUM_TEAMS, OMP_TEAMS_THREAD_LIMIT
 */
#include "../child.h"
#include <omp.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static int report(void) {
  char format[128];
#pragma omp parallel
#pragma omp critical /* a tool starts with the first construct */
  format[0] = '\0';
  omp_get_affinity_format(format, sizeof format);
  printf("nested=%d places=%d bind=%d cancel=%d device=%d priority=%d allocator=%d teams=%d limit=%d format=%s.\n",
         omp_get_nested(), omp_get_num_places() > 0, omp_get_proc_bind(), omp_get_cancellation(),
         omp_get_default_device(), omp_get_max_task_priority(), omp_get_default_allocator() == omp_large_cap_mem_alloc,
         omp_get_max_teams(), omp_get_teams_thread_limit(), format);
  return 0;
}

static Child child;

/* Up to two settings; then the words of the line that the child must print. */
#define EXPECT(first, second, ...)                                  \
  do {                                                              \
    static char first_[] = first, second_[] = second;               \
    char* variables_[] = {first_, *second_ ? second_ : NULL, NULL}; \
    run_child(&child, "report", variables_);                        \
    CHECK_LINE(&child, __VA_ARGS__);                                \
    CHECK_EQ(child.status, 0);                                      \
  } while (0)

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "report") == 0) return report();
  EXPECT("OMP_NESTED=false", "", "nested=0 ");
  EXPECT("OMP_PLACES=threads", "OMP_PROC_BIND=spread", "places=1 bind=4 ");
  EXPECT("OMP_PLACES={0}", "OMP_PROC_BIND=close", "places=1 bind=3 ");
  EXPECT("OMP_PROC_BIND=false", "", "bind=0 ");
  EXPECT("OMP_CANCELLATION=true", "", "cancel=1 ");
  EXPECT("OMP_CANCELLATION=false", "", "cancel=0 ");
  EXPECT("OMP_DEFAULT_DEVICE=3", "", "device=3 ");
  EXPECT("OMP_TARGET_OFFLOAD=disabled", "", "nested=");
  EXPECT("OMP_MAX_TASK_PRIORITY=17", "", "priority=17 ");
  EXPECT("OMP_ALLOCATOR=omp_large_cap_mem_alloc", "", "allocator=1 ");
  EXPECT("OMP_NUM_TEAMS=6", "OMP_TEAMS_THREAD_LIMIT=2", "teams=6 limit=2 ");
  EXPECT("OMP_AFFINITY_FORMAT=%n of %N", "", "format=%n of %N.");
  EXPECT("OMP_TOOL=disabled", "OMP_TOOL_VERBOSE_INIT=stdout", "nested=");
  EXPECT("OMP_TOOL_LIBRARIES=/nowhere/libtool.so", "OMP_TOOL_VERBOSE_INIT=stdout", "/nowhere/libtool.so");
  return 0;
}
