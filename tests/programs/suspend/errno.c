/* SPDX-License-Identifier: Apache-2.0
 *
 * A suspended task finds errno as it left it, whatever the runtime did when it went on: here, unmapping the stacks of
 * tasks that have ended, in a munmap that always changes errno. Usage: errno TASKS
 *
 * Covers: marline suspension
 */
#include "../check.h"
#include <errno.h>
#include <marline/marline.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { kFirst = 1000, kOfMunmap = 999 };

static int calls;

int munmap(void* address, size_t bytes) {
  long result = syscall(SYS_munmap, address, bytes);
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  errno = kOfMunmap;
  return (int)result;
}

static void wait_and_look(marline_event_t* event, int task) {
  errno = kFirst + task;
  marline_event_wait(event);
  CHECK_EQ(errno, kFirst + task);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  int tasks = atoi(argv[1]), arrived = 0;
  marline_event_t* events = malloc((size_t)tasks * sizeof *events);
  CHECK(events != NULL);
#pragma omp parallel
#pragma omp single
  {
    for (int t = 0; t < tasks; t++) {
      marline_event_init(&events[t]);
#pragma omp task firstprivate(t) shared(arrived)
      {
        __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
        wait_and_look(&events[t], t);
      }
    }
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < tasks) {
#pragma omp taskyield
    }
    calls = 0;
    for (int t = 0; t < tasks; t++) marline_event_fulfill(&events[t]);
#pragma omp taskwait
    CHECK(omp_get_num_threads() > 1 || calls > 0); /* with others, stacks are kept until one falls asleep */
  }
  free(events);
  return 0;
}
