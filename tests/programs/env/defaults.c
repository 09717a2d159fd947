/* SPDX-License-Identifier: Apache-2.0
 *
 * kmp_set_defaults: what it says holds if it comes before the first region; what is too late, unknown or malformed
 * gives one line each, and nothing changes. Each case is a child.
 *
 * Covers: LLVM kmp_ routines
 */
#include "../child.h"
#include <omp.h>

static int report(void) {
  omp_sched_t kind;
  int chunk, threads = 0;
  omp_get_schedule(&kind, &chunk);
#pragma omp parallel reduction(+ : threads)
  threads++;
  printf("max_threads=%d team=%d schedule=%d,%d dynamic=%d limit=%d stack=%zu levels=%d blocktime=%d.\n",
         omp_get_max_threads(), threads, kind & 7, chunk, omp_get_dynamic(), omp_get_thread_limit(),
         kmp_get_stacksize_s(), omp_get_max_active_levels(), kmp_get_blocktime());
  return 0;
}

static Child child;

static void run(const char* argument) {
  char* variables[] = {NULL};
  run_child(&child, argument, variables);
  CHECK_EQ(child.status, 0);
}

static int warnings(void) {
  int count = 0;
  for (const char* at = child.output; (at = strstr(at, "marline: warning")) != NULL; at++) count++;
  return count;
}

static void good_settings(void) {
  run("OMP_NUM_THREADS=3|OMP_SCHEDULE = guided,7 |OMP_DYNAMIC=true");
  CHECK_LINE(&child, "max_threads=3 ", "schedule=3,7 dynamic=1 "); /* dynamic: a team has no more threads than cores */
  CHECK_EQ(warnings(), 0);
  run("OMP_NUM_THREADS=4|OMP_THREAD_LIMIT=2|OMP_STACKSIZE=8M");
  CHECK_LINE(&child, "team=2 ", "limit=2 stack=8388608 ");
  run("touch:OMP_NUM_THREADS=5");
  CHECK_LINE(&child, "max_threads=5 team=5 ");
  run("KMP_STACKSIZE=3M|KMP_BLOCKTIME=7");
  CHECK_LINE(&child, "stack=3145728 ", " blocktime=7.");
  run("KMP_LIBRARY=serial");
  CHECK_LINE(&child, "max_threads=1 team=1 ");
  run("touch:KMP_LIBRARY=serial");
  CHECK_LINE(&child, "max_threads=1 team=1 ");
  run("OMP_NUM_THREADS=2,2");
  CHECK_LINE(&child, "levels=2147483647 ");
  run("touch:OMP_NUM_THREADS=2,2");
  CHECK_LINE(&child, "levels=2147483647 ");
  run("OMP_NUM_THREADS=2");
  CHECK_LINE(&child, "levels=1 ");
  run("blocktime:KMP_BLOCKTIME=7");
  CHECK_LINE(&child, "blocktime=7.");
  run("OMP_WAIT_POLICY=passive");
  CHECK_LINE(&child, "blocktime=0.");
  CHECK_EQ(warnings(), 0);
  run("KMP_HOT_TEAMS_MAX_LEVEL=1|KMP_DUPLICATE_LIB_OK=true|");
  CHECK_EQ(warnings(), 0);
  run("KMP_HOT_TEAMS_MAX_LEVEL=3|GOMP_RTEMS_THREAD_POOLS=1|");
  CHECK_EQ(warnings(), 2);
}

static void bad_settings(void) {
  run("OMP_NUM_THREADS=many");
  CHECK_LINE(&child, "OMP_NUM_THREADS", "\"many\"", "not usable");
  run("OMP_NUM_TREES=4");
  CHECK_LINE(&child, "OMP_NUM_TREES", "no variable");
  run("threads");
  CHECK_LINE(&child, "\"threads\"", "NAME=VALUE");
  run("KMP_STACKSIZE=3M|KMP_BLOCKTIME=often");
  CHECK_LINE(&child, "KMP_BLOCKTIME", "\"often\"", "not usable");
  CHECK_LINE(&child, "stack=3145728 ", " blocktime=200.");
  run("KMP_AFFINITY=compact");
  CHECK_LINE(&child, "KMP_AFFINITY", "before the program starts");
  run("OMP_TOOL=disabled");
  CHECK_LINE(&child, "OMP_TOOL", "before the program starts");
  run("region:OMP_NUM_THREADS=7");
  CHECK_LINE(&child, "OMP_NUM_THREADS", "\"7\"", "before the program starts");
  CHECK(strstr(child.output, "max_threads=7") == NULL);
  CHECK_EQ(warnings(), 1);
  run("quiet:OMP_NUM_THREADS=many");
  CHECK_EQ(warnings(), 0);
}

int main(int argc, char** argv) {
  if (argc <= 1) {
    good_settings();
    bad_settings();
    return 0;
  }
  const char *settings = argv[1], *colon = strchr(settings, ':');
  if (strncmp(settings, "touch:", 6) == 0)
    CHECK(omp_get_thread_num() == 0); /* the runtime has seen this thread, and starts no other */
  if (strncmp(settings, "blocktime:", 10) == 0) kmp_set_blocktime(30); /* what is said later holds */
  if (strncmp(settings, "quiet:", 6) == 0) kmp_set_warnings_off();
  if (strncmp(settings, "region:", 7) == 0) {
#pragma omp parallel num_threads(2)
    CHECK(omp_get_num_threads() == 2);
  }
  kmp_set_defaults(colon ? colon + 1 : settings);
  return report();
}
