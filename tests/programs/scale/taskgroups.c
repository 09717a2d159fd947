/* SPDX-License-Identifier: Apache-2.0
 *
 * Many taskgroups: one after the other, nested in one task, nested as tasks in tasks, and open at the same time in
 * tasks that all wait at their ends. Each waits for its tasks, and memory does not grow with their number.
 * Usage: taskgroups GROUPS (in sequence; a tenth of them nested and open at a time)
 *
 * Covers: taskgroup, task(detach), omp_fulfill_event
 */
#include "../resident.h"
#include <omp.h>

enum { kGrowthKiB = 8192, kNestedTasks = 2000 };

static long ran;

static void ordinary(void) {
#pragma omp atomic
  ran++;
}

static long ran_now(void) {
  long now;
#pragma omp atomic read
  now = ran;
  return now;
}

static void in_sequence(long groups) {
  for (long i = 0; i < groups; i++) {
    long before = ran_now();
#pragma omp taskgroup
    {
#pragma omp task
      ordinary();
    }
    CHECK_EQ(ran_now(), before + 1);
  }
}

/* Each level's group ends after the groups inside it: then its own task and theirs have run. */
static void nested(long levels) {
  if (levels == 0) return;
  long before = ran_now();
#pragma omp taskgroup
  {
#pragma omp task
    ordinary();
    nested(levels - 1);
  }
  CHECK(ran_now() >= before + levels);
}

static void nested_tasks(long levels) {
  if (levels == 0) return;
#pragma omp taskgroup
  {
#pragma omp task firstprivate(levels)
    {
      nested_tasks(levels - 1);
      ordinary();
    }
  }
}

static int opened, closed;

static void hold_open(omp_event_handle_t* event) {
#pragma omp taskgroup
  {
    omp_event_handle_t handle;
#pragma omp task detach(handle) firstprivate(event)
    {
      *event = handle;
      __atomic_add_fetch(&opened, 1, __ATOMIC_RELEASE);
    }
  }
  __atomic_add_fetch(&closed, 1, __ATOMIC_RELAXED);
}

/* No group can end before the last is open. */
static void open_together(int groups) {
  omp_event_handle_t* events = malloc((size_t)groups * sizeof *events);
  CHECK(events != NULL);
  opened = closed = 0;
  for (int i = 0; i < groups; i++) {
#pragma omp task firstprivate(i)
    hold_open(&events[i]);
  }
  while (__atomic_load_n(&opened, __ATOMIC_ACQUIRE) < groups) {
#pragma omp taskyield
  }
  CHECK_EQ(closed, 0);
  for (int i = 0; i < groups; i++) omp_fulfill_event(events[i]);
#pragma omp taskwait
  CHECK_EQ(closed, groups);
  free(events);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  long groups = atol(argv[1]), many = groups / 10;
#pragma omp parallel
#pragma omp master
  {
    in_sequence(many);
    long before = resident_kib();
    in_sequence(groups);
    expect_growth_below(before, kGrowthKiB);
    nested(many / 2);
    nested_tasks(kNestedTasks);
  }
  long before = resident_kib();
  for (int round = 0; round < 2; round++) {
#pragma omp parallel
#pragma omp single
    open_together((int)many);
  }
  expect_back(before, 200 * 1024, "after groups that were open at a time");
  return 0;
}
