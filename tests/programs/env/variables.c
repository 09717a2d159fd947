/* SPDX-License-Identifier: Apache-2.0
 *
 * OMP_* variables arrive in the ICVs that they set. The program runs itself once per setting; the child prints what the
 * omp_* routines say, the parent compares. Bad values: one line that names variable and value, and the default holds.
 *
 * Covers: omp_get_proc_bind, OMP_DYNAMIC, OMP_NUM_THREADS, OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS, OMP_SCHEDULE,
 *  OMP_STACKSIZE, OMP_WAIT_POLICY, OMP_DISPLAY_ENV
 */
#include "../child.h"
#include <omp.h>

static int report(void) {
  omp_sched_t kind;
  int chunk, threads = 0, inner = 0;
  omp_get_schedule(&kind, &chunk);
#pragma omp parallel reduction(+ : threads, inner)
  {
    threads++;
#pragma omp parallel reduction(+ : inner)
    inner++;
  }
  printf("max_threads=%d team=%d inner=%d schedule=%s%d,%d dynamic=%d levels=%d limit=%d proc_bind=%d in_final=%d.\n",
         omp_get_max_threads(), threads, inner, (kind & omp_sched_monotonic) != 0 ? "monotonic:" : "", kind & 7, chunk,
         omp_get_dynamic(), omp_get_max_active_levels(), omp_get_thread_limit(), omp_get_proc_bind(), omp_in_final());
  return 0;
}

static Child child;

#define EXPECT(setting, ...)                 \
  do {                                       \
    static char setting_[] = setting;        \
    char* variables_[] = {setting_, NULL};   \
    run_child(&child, "report", variables_); \
    CHECK_LINE(&child, __VA_ARGS__);         \
    CHECK_EQ(child.status, 0);               \
  } while (0)

static void settings(void) {
  EXPECT("OMP_NUM_THREADS=3", "max_threads=3 team=3 ");
  EXPECT("OMP_NUM_THREADS= 5 ", "max_threads=5 team=5 ");
  EXPECT("OMP_NUM_THREADS=4,2", "max_threads=4 team=4 ");
  EXPECT("OMP_SCHEDULE=", "schedule=1,0 "); /* not given: static, for programs of GCC, too (docs/guide/running.md) */
  EXPECT("OMP_SCHEDULE=static", "schedule=1,0 ");
  EXPECT("OMP_SCHEDULE=static,52", "schedule=1,52 ");
  EXPECT("OMP_SCHEDULE=monotonic:static", "schedule=monotonic:1,0 ");
  EXPECT("OMP_SCHEDULE=monotonic:static,52", "schedule=monotonic:1,52 ");
  EXPECT("OMP_SCHEDULE=nonmonotonic:static,52", "schedule=1,52 ");
  EXPECT("OMP_SCHEDULE=nonmonotonic:dynamic", "schedule=2,1 ");
  EXPECT("OMP_SCHEDULE=dynamic", "schedule=2,1 ");
  EXPECT("OMP_SCHEDULE=dynamic,7", "schedule=2,7 ");
  EXPECT("OMP_SCHEDULE=GUIDED , 3", "schedule=3,3 ");
  EXPECT("OMP_SCHEDULE=monotonic:dynamic,5", "schedule=monotonic:2,5 ");
  EXPECT("OMP_SCHEDULE=auto", "schedule=4,");
  EXPECT("OMP_DYNAMIC=true", "dynamic=1 ");
  EXPECT("OMP_DYNAMIC=FALSE", "dynamic=0 ");
  EXPECT("OMP_MAX_ACTIVE_LEVELS=1", "levels=1 ");
  EXPECT("OMP_THREAD_LIMIT=9", "limit=9 ");
  EXPECT("OMP_WAIT_POLICY=passive", "max_threads=");
  EXPECT("OMP_WAIT_POLICY=ACTIVE", "max_threads=");
  EXPECT("OMP_STACKSIZE=8M", "max_threads=");
  EXPECT("OMP_STACKSIZE= 16384 k ", "max_threads=");
}

/* Two things must hold: a line on stderr that names the variable and the value, and the report with the default. */
#define REFUSES(name, value, ...)        \
  do {                                   \
    EXPECT(name "=" value, __VA_ARGS__); \
    CHECK_LINE(&child, name, value);     \
  } while (0)

static void bad_values(void) {
  REFUSES("OMP_NUM_THREADS", "many", "max_threads=");
  REFUSES("OMP_NUM_THREADS", "-3", "max_threads=");
  REFUSES("OMP_SCHEDULE", "sideways,4", "schedule=");
  REFUSES("OMP_DYNAMIC", "perhaps", "dynamic=0 ");
  REFUSES("OMP_STACKSIZE", "12 parsecs", "max_threads=");
  REFUSES("OMP_WAIT_POLICY", "lazy", "max_threads=");
  REFUSES("MARLINE_SCHEDULE", "random:seven", "max_threads=");
}

static void display(void) {
  EXPECT("OMP_DISPLAY_ENV=true", "OMP_NUM_THREADS");
  CHECK_LINE(&child, "OMP_SCHEDULE");
  CHECK_LINE(&child, "_OPENMP");
  EXPECT("OMP_DISPLAY_ENV=verbose", "MARLINE_VERSION");
  CHECK_LINE(&child, "MARLINE_SCHEDULE");
  EXPECT("OMP_DISPLAY_ENV=false", "max_threads=");
  CHECK(strstr(child.output, "_OPENMP") == NULL);
}

/* The schedule is shown as it was given. */
static void displayed_schedule(void) {
  static const char* const schedules[] = {"static",
                                          "static,52",
                                          "monotonic:static,52",
                                          "nonmonotonic:static",
                                          "monotonic:dynamic,4",
                                          "nonmonotonic:dynamic",
                                          "guided,3",
                                          "auto"};
  for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
    char setting[64], line[64];
    snprintf(setting, sizeof setting, "OMP_SCHEDULE=%s", schedules[i]);
    snprintf(line, sizeof line, "OMP_SCHEDULE = '%s'", schedules[i]);
    char* variables[] = {setting, (char[]){"OMP_DISPLAY_ENV=true"}, NULL};
    run_child(&child, "report", variables);
    CHECK_LINE(&child, line);
  }
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "report") == 0) return report();
  settings();
  if (argc > 1 && strcmp(argv[1], "settings") == 0) return 0;
  bad_values();
  display();
  displayed_schedule();
  return 0;
}
