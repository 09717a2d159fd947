/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables of LLVM's and GCC's runtimes are understood, OpenMP's own go first, and a bad value gives one line. The
 * program runs itself once per setting; the child prints where its threads may run.
 *
 * Covers: KMP_ and GOMP_ variables, OMP_PLACES, OMP_PROC_BIND
 */
#include "../child.h"
#include <omp.h>
#include <sched.h>

static int report(void) {
  int threads = 0, cpus = 0, on_first = 0;
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  int first = 0;
  while (!CPU_ISSET(first, &all)) first++;
#pragma omp parallel reduction(+ : threads, cpus, on_first)
  {
    cpu_set_t mine;
    sched_getaffinity(0, sizeof mine, &mine);
    threads++;
    cpus += CPU_COUNT(&mine);
    on_first += CPU_COUNT(&mine) == 1 && CPU_ISSET(first, &mine);
  }
  CHECK_EQ(threads, omp_get_max_threads());
  printf("bound=%d free=%d on_first=%d.\n", cpus == threads, cpus == threads * CPU_COUNT(&all), on_first == threads);
  return 0;
}

static Child child;

static int warnings(void) {
  int count = 0;
  for (const char* at = child.output; (at = strstr(at, "marline: warning")) != NULL; at++) count++;
  return count;
}

/* first, second: "NAME=VALUE"; second may be null. */
static void run(const char* first, const char* second) {
  char* variables[] = {strdup(first), second ? strdup(second) : NULL, NULL};
  run_child(&child, "report", variables);
  CHECK_EQ(child.status, 0);
  free(variables[0]);
  free(variables[1]);
}

static void shown(const char* first, const char* second, const char* line) {
  run(first, second);
  CHECK_LINE(&child, line);
  CHECK_EQ(warnings(), 0);
}

static void values(void) {
  const char* show = "OMP_DISPLAY_ENV=verbose";
  shown("KMP_SETTINGS=1", "KMP_STACKSIZE=8M", "OMP_STACKSIZE='8M'");
  shown("KMP_STACKSIZE=1048576", show, "OMP_STACKSIZE = '1M'");
  shown("GOMP_STACKSIZE=2048", show, "OMP_STACKSIZE = '2M'");
  shown("KMP_BLOCKTIME=3", show, "MARLINE_SPIN = '3000'");
  shown("GOMP_SPINCOUNT=1M", show, "MARLINE_SPIN = '10000'");
  shown("KMP_LIBRARY=turnaround", show, "OMP_WAIT_POLICY = 'active'");
  shown("KMP_BLOCKTIME=0", NULL, "free=1 ");
  shown("KMP_BLOCKTIME=infinite", NULL, "free=1 ");
  shown("OMP_STACKSIZE=5M", "GOMP_STACKSIZE=64K", "free=1 ");
  run("OMP_STACKSIZE=5M", "KMP_SETTINGS=true");
  CHECK_LINE(&child, "OMP_STACKSIZE='5M'");
  CHECK_LINE(&child, "   OMP_STACKSIZE=5M");
}

static void binding(void) {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  int first = 0;
  char list[64];
  while (!CPU_ISSET(first, &all)) first++;
  snprintf(list, sizeof list, "GOMP_CPU_AFFINITY=%d", first);
  shown(list, NULL, "bound=1 ");
  CHECK_LINE(&child, "on_first=1.");
  run(list, "OMP_PROC_BIND=false");
  CHECK_LINE(&child, "free=1 on_first=");
  CHECK_LINE(&child, "GOMP_CPU_AFFINITY", "ignored", "OMP_PROC_BIND");
  CHECK_EQ(warnings(), 1);
  snprintf(list, sizeof list, "KMP_AFFINITY=granularity=fine,proclist=[%d],explicit", first);
  shown(list, NULL, "bound=1 ");
  CHECK_LINE(&child, "on_first=1.");
  shown("KMP_AFFINITY=granularity=fine,compact", NULL, "bound=1 ");
  shown("KMP_AFFINITY=granularity=fine,scatter,0,1", NULL, "bound=1 ");
  shown("KMP_AFFINITY=none", NULL, "free=1 ");
  shown("OMP_PLACES=threads", "OMP_PROC_BIND=false", "free=1 ");
  run("KMP_AFFINITY=disabled", "GOMP_CPU_AFFINITY=0");
  CHECK_LINE(&child, "free=1 ");
  CHECK_LINE(&child, "GOMP_CPU_AFFINITY", "ignored", "KMP_AFFINITY");
  run("MARLINE_SPIN_US=3", "MARLINE_OF_MINE=1");
  CHECK_LINE(&child, "MARLINE_SPIN_US", "did you mean MARLINE_SPIN?");
  CHECK_EQ(warnings(), 1);
  run("MARLINE_PROGRES=idle", "MARLINE_HOME=/opt/marline");
  CHECK_LINE(&child, "MARLINE_PROGRES:", "did you mean MARLINE_PROGRESS?");
  CHECK_EQ(warnings(), 1);
  run("OMP_NUM_THREAD=2", NULL);
  CHECK_LINE(&child, "OMP_NUM_THREAD:", "did you mean OMP_NUM_THREADS?");
  CHECK_EQ(warnings(), 1);
}

static void bad_values(void) {
  static const char* const bad[][2] = {
      {"KMP_BLOCKTIME", "soon"}, {"KMP_STACKSIZE", "huge"},    {"GOMP_SPINCOUNT", "a lot"}, {"KMP_AFFINITY", "tightly"},
      {"KMP_LIBRARY", "public"}, {"GOMP_CPU_AFFINITY", "0,x"}, {"GOMP_STACKSIZE", "1K"},    {"KMP_SETTINGS", "please"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char setting[64];
    snprintf(setting, sizeof setting, "%s=%s", bad[i][0], bad[i][1]);
    run(setting, NULL);
    CHECK_LINE(&child, "free=1 ");
    CHECK_LINE(&child, bad[i][0], bad[i][1], "expected", "using");
    CHECK_EQ(warnings(), 1);
  }
  run("KMP_BLOCKTIME=soon", "KMP_WARNINGS=false");
  CHECK_EQ(warnings(), 0);
}

/* Each of them is named, with what holds instead. */
static void not_obeyed(void) {
  run("KMP_HOT_TEAMS_MAX_LEVEL=2", "KMP_HOT_TEAMS_MODE=1");
  CHECK_LINE(&child, "KMP_HOT_TEAMS_MAX_LEVEL", "not obeyed", "pool");
  CHECK_LINE(&child, "KMP_HOT_TEAMS_MODE", "not obeyed");
  CHECK_EQ(warnings(), 2);
  run("KMP_DISP_NUM_BUFFERS=12", "GOMP_DEBUG=1");
  CHECK_LINE(&child, "KMP_DISP_NUM_BUFFERS", "not obeyed", "docs/options.md");
  CHECK_LINE(&child, "GOMP_DEBUG", "not obeyed", "OMP_DISPLAY_ENV");
  CHECK_EQ(warnings(), 2);
  run("KMP_HOT_TEAMS_MAX_LEVEL=1", "KMP_DUPLICATE_LIB_OK=TRUE");
  CHECK_EQ(warnings(), 0);
  run("KMP_DETERMINISTIC_REDUCTION=true", "KMP_WARNINGS=0");
  CHECK_EQ(warnings(), 0);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "report") == 0) return report();
  values();
  binding();
  bad_values();
  not_obeyed();
  return 0;
}
