/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tasks a construct waits for: taskwait for children only, taskgroup for all descendants, nested groups, taskwait
 * with dependences for predecessors alone (OpenMP 5.1, 2.19.5, 2.19.6).
 *
 * Covers: task(firstprivate, depend:in/out/inout), taskgroup, taskwait(depend:in/out/inout)
 */
#include "../check.h"
#include <omp.h>

enum { kTasks = 20 };

static void taskwait_waits_for_children(void) {
  int children = 0, grandchildren = 0;
#pragma omp parallel shared(children, grandchildren)
#pragma omp single
  {
    for (int t = 0; t < kTasks; t++) {
#pragma omp task shared(children, grandchildren)
      {
#pragma omp task shared(grandchildren)
        {
          usleep(100);
#pragma omp atomic
          grandchildren++;
        }
        usleep(50);
#pragma omp atomic
        children++;
      }
    }
#pragma omp taskwait
    CHECK_EQ(children, kTasks);
  }
  CHECK_EQ(grandchildren, kTasks);
}

static void spawn(int depth, long* count) {
#pragma omp atomic
  (*count)++;
  if (depth == 0) return;
  for (int c = 0; c < 3; c++) {
#pragma omp task firstprivate(depth, count)
    spawn(depth - 1, count);
  }
}

static void taskgroup_waits_for_descendants(void) {
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; round++) {
    long count = 0, outside = 0;
#pragma omp task shared(outside)
    {
      usleep(10);
#pragma omp atomic
      outside++;
    }
#pragma omp taskgroup
    spawn(4, &count);
    CHECK_EQ(count, 1 + 3 + 9 + 27 + 81);
#pragma omp taskwait
    CHECK_EQ(outside, 1);
  }
}

static void nested_groups(void) {
  long inner_total = 0;
#pragma omp parallel shared(inner_total)
#pragma omp single
#pragma omp taskgroup
  for (int t = 0; t < 10; t++) {
#pragma omp task shared(inner_total)
    {
      long count = 0;
#pragma omp taskgroup
      {
        spawn(2, &count);
#pragma omp taskgroup
        spawn(1, &count);
      }
      CHECK_EQ(count, 13 + 4);
#pragma omp atomic
      inner_total += count;
    }
  }
  CHECK_EQ(inner_total, 170);
}

/* A task that is created in a group but outlives no taskwait of its creator still belongs to the group. */
static void group_around_waiting_tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
    int leaves = 0;
#pragma omp taskgroup
    {
#pragma omp task shared(leaves)
      {
#pragma omp task shared(leaves)
        {
#pragma omp task shared(leaves)
          {
            usleep(20);
#pragma omp atomic
            leaves++;
          }
        }
#pragma omp taskwait
#pragma omp task shared(leaves)
        {
#pragma omp atomic
          leaves++;
        }
      }
    }
    CHECK_EQ(leaves, 2);
  }
}

static void taskwait_with_dependences(void) {
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
    int x = 0, y = 0, z = 0;
#pragma omp task shared(x) depend(out : x)
    {
      usleep(50);
      x = 1;
    }
#pragma omp task shared(x, y) depend(in : x) depend(out : y)
    y = x + 1;
#pragma omp task shared(z) depend(out : z)
    {
      usleep(50);
      z = 7;
    }
#pragma omp taskwait depend(in : x)
    CHECK_EQ(x, 1);
#pragma omp taskwait depend(inout : y)
    CHECK_EQ(y, 2);
#pragma omp taskwait depend(in : x, y) depend(out : z)
    CHECK_EQ(z, 7);
#pragma omp task shared(x) depend(inout : x)
    x = 5;
#pragma omp taskwait depend(out : x)
    CHECK_EQ(x, 5);
#pragma omp taskwait
  }
}

int main(void) {
  for (int round = 0; round < 5; round++) {
    taskwait_waits_for_children();
    taskgroup_waits_for_descendants();
    nested_groups();
    group_around_waiting_tasks();
    taskwait_with_dependences();
  }
  return 0;
}
