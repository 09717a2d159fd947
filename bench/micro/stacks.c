/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks of suspended tasks: many tasks (400,000 or the number in the argument) are created, wait for an event each,
 * and are resumed, three times in a row. Figures, wall time per task: `suspend_N`, from creation to suspension, and
 * `resume_N`, from the event to the end. Remarks: resident memory and page tables while all are suspended (`held`),
 * right after their end (`ended`), and after five seconds without work (`idle`). Needs marline.h.
 */
#include "bench.h"
#include <marline/marline.h>
#include <unistd.h>

enum { kRounds = 3 };

static marline_event_t* events;

static long kib_of(const char* key) {
  char line[256];
  long value = 0;
  FILE* file = fopen("/proc/self/status", "r");
  if (file == NULL) bench_fail("no /proc/self/status");
  while (fgets(line, sizeof line, file) != NULL)
    if (!strncmp(line, key, strlen(key))) value = atol(line + strlen(key));
  fclose(file);
  return value;
}

static void say_memory(const char* when, int round) {
  printf("# %s_%d %ld KiB resident, %ld KiB page tables, %ld KiB mapped\n", when, round, kib_of("VmRSS:"),
         kib_of("VmPTE:"), kib_of("VmSize:"));
}

static void create(long tasks, long* arrived, long* resumed) {
  for (long t = 0; t < tasks; t++) {
    marline_event_init(&events[t]);
#pragma omp task untied firstprivate(t)
    {
      __atomic_add_fetch(arrived, 1, __ATOMIC_RELAXED);
      marline_event_wait(&events[t]);
      __atomic_add_fetch(resumed, 1, __ATOMIC_RELAXED);
    }
  }
  while (__atomic_load_n(arrived, __ATOMIC_RELAXED) < tasks) {
#pragma omp taskyield
  }
}

static void run(long tasks, int round) {
  long arrived = 0, resumed = 0;
  double start = 0, suspended = 0, let_go = 0;
#pragma omp parallel
#pragma omp single
  {
    start = bench_now();
    create(tasks, &arrived, &resumed);
    suspended = bench_now();
    say_memory("held", round);
    let_go = bench_now();
    for (long t = 0; t < tasks; t++) marline_event_fulfill(&events[t]);
  }
  double end = bench_now();
  if (resumed != tasks) bench_fail("%ld of %ld tasks came back", resumed, tasks);
  char name[32];
  snprintf(name, sizeof name, "suspend_%d", round);
  bench_say(name, (suspended - start) / (double)tasks, "ns");
  snprintf(name, sizeof name, "resume_%d", round);
  bench_say(name, (end - let_go) / (double)tasks, "ns");
  say_memory("ended", round);
  sleep(5);
  say_memory("idle", round);
}

int main(int argc, char** argv) {
  long tasks = argc > 1 ? atol(argv[1]) : 400000;
  if (tasks < 1 || argc > 2) bench_fail("usage: %s [TASKS]", argv[0]);
  bench_name_runtime();
  events = malloc((size_t)tasks * sizeof *events);
  if (events == NULL) bench_fail("out of memory");
  for (int round = 1; round <= kRounds; round++) run(tasks, round);
  return 0;
}
