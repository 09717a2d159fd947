/* SPDX-License-Identifier: Apache-2.0
 *
 * A hundred thousand tasks suspended at once: their stacks must fit the kernel's default limit of 65,530 mappings, must
 * not be inflated by transparent huge pages, and must come back when the tasks have ended: for the next ones, and their
 * memory for the system once there is no more work. Usage: many TASKS
 *
 * Covers: marline suspension
 */
#include "../resident.h"
#include <marline/marline.h>
#include <omp.h>

enum { kMaxMappings = 60000, kMaxBytesPerTask = 16384, kSlackBytes = 100 << 20 };

static long lines_of(const char* path) {
  FILE* file = fopen(path, "r");
  CHECK(file != NULL);
  long lines = 0;
  for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines;
}

static void suspend_and_resume(int tasks, marline_event_t* events, int untied) {
  int arrived = 0, resumed = 0;
  long before = resident_bytes();
#pragma omp parallel shared(arrived, resumed)
#pragma omp single
  {
    for (int t = 0; t < tasks; t++) {
      marline_event_init(&events[t]);
#define BODY                                           \
  {                                                    \
    __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED); \
    marline_event_wait(&events[t]);                    \
    __atomic_add_fetch(&resumed, 1, __ATOMIC_RELAXED); \
  }
      if (untied) {
#pragma omp task untied firstprivate(t)
        BODY
      } else {
#pragma omp task firstprivate(t)
        BODY
      }
    }
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < tasks) {
#pragma omp taskyield
    }
    CHECK_EQ(__atomic_load_n(&resumed, __ATOMIC_RELAXED), 0);
    long grown = resident_bytes() - before, mappings = lines_of("/proc/self/maps");
    printf("%d suspended tasks: %ld bytes each, %ld mappings\n", tasks, grown / tasks, mappings);
    CHECK_RANGE(mappings, 0, kMaxMappings);
    CHECK(grown <= (long)kMaxBytesPerTask * tasks + kSlackBytes);
    for (int t = 0; t < tasks; t++) marline_event_fulfill(&events[t]);
  }
  CHECK_EQ(resumed, tasks);
}

/* The threads of the region give it back when they fall asleep, or at once where there is one. */
static void expect_stacks_back(long before) {
  for (int i = 0; i < 3000 && resident_bytes() > before + 2 * kSlackBytes; i++) usleep(10 * 1000);
  printf("%ld MiB more than before\n", (resident_bytes() - before) >> 20);
  CHECK(resident_bytes() <= before + 2 * kSlackBytes);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  long before = resident_bytes();
  int tasks = atoi(argv[1]);
  marline_event_t* events = malloc((size_t)tasks * sizeof *events);
  CHECK(events != NULL);
  suspend_and_resume(tasks, events, 1);
  suspend_and_resume(tasks, events, 0); /* again on the same stacks: nothing may have leaked */
  expect_stacks_back(before);
  free(events);
  return 0;
}
