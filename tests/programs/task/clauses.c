/* SPDX-License-Identifier: Apache-2.0
 *
 * if, final, mergeable, untied, priority: when a task is undeferred, included or final, and what its code can see of it
 * (OpenMP 5.1, 2.12.1). Tasks outside any parallel region run at once or at a scheduling point, but they run.
 *
 * Covers: parallel(num_threads), task(if, final, untied, mergeable, priority, firstprivate, depend:in/out/inout),
 *  taskgroup, taskyield, omp_get_max_task_priority, omp_in_final
 */
#include "../check.h"
#include <omp.h>

static void undeferred(int n) {
  int order = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  for (int t = 0; t < 50; t++) {
    CHECK_EQ(order, 2 * t);
#pragma omp task if (0) shared(order)
    {
      CHECK_EQ(omp_in_final(), 0);
      order++;
    }
    CHECK_EQ(order, 2 * t + 1); /* the creator has waited for it */
    order++;
  }
}

/* An undeferred task with dependences waits for its predecessors first. */
static void undeferred_with_dependences(int n) {
  int x = 0;
#pragma omp parallel num_threads(n) shared(x)
#pragma omp single
  for (int t = 0; t < 50; t++) {
#pragma omp task depend(out : x) shared(x)
    {
      usleep(20);
      x = t;
    }
#pragma omp task if (0) depend(in : x) shared(x)
    CHECK_EQ(x, t);
    CHECK_EQ(x, t);
  }
}

static void descend(int depth, int* visited) {
  CHECK_EQ(omp_in_final(), 1);
  (*visited)++;
  if (depth == 0) return;
  int marker = 0;
#pragma omp task shared(marker) firstprivate(visited, depth)
  {
    marker = 1;
    descend(depth - 1, visited);
  }
  CHECK_EQ(marker, 1); /* an included task has ended before its creator goes on */
}

static void final_tasks(int n) {
  int visited = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    CHECK_EQ(omp_in_final(), 0);
#pragma omp task final(1) shared(visited)
    descend(10, &visited);
#pragma omp task final(0)
    CHECK_EQ(omp_in_final(), 0);
  }
  CHECK_EQ(visited, 11);
}

static void mergeable_untied_priority(int n) {
  int ran = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  for (int t = 0; t < 100; t++) {
#pragma omp task mergeable untied priority(t % 7) shared(ran) firstprivate(t)
    {
      CHECK_RANGE(omp_get_thread_num(), 0, n - 1);
#pragma omp atomic
      ran++;
    }
#pragma omp task mergeable if (t % 2) shared(ran)
    {
#pragma omp atomic
      ran++;
    }
  }
  CHECK_EQ(ran, 200);
  CHECK(omp_get_max_task_priority() >= 0);
}

/* Untied tasks with scheduling points inside: Clang splits them into parts that the task enqueues itself. */
static void untied_parts(int n) {
  int total = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  for (int t = 0; t < 50; t++) {
#pragma omp task untied shared(total) firstprivate(t)
    {
      int mine = t, child = 0;
      for (int k = 0; k < 4; k++) {
        mine += k;
#pragma omp taskyield
#pragma omp task shared(child) untied
        {
#pragma omp atomic
          child++;
        }
#pragma omp taskwait
        CHECK_EQ(child, k + 1);
        CHECK_EQ(mine, t + k * (k + 1) / 2);
      }
#pragma omp atomic
      total += mine;
    }
  }
  CHECK_EQ(total, 50 * 49 / 2 + 50 * 6);
}

static void outside_a_region(void) {
  int x = 0, loop = 0;
#pragma omp task shared(x) depend(out : x)
  x = 1;
#pragma omp task shared(x) depend(inout : x)
  x *= 5;
#pragma omp taskwait
  CHECK_EQ(x, 5);
#pragma omp taskgroup
  {
#pragma omp task shared(x)
    x++;
  }
  CHECK_EQ(x, 6);
#pragma omp taskloop shared(loop)
  for (int i = 0; i < 10; i++)
#pragma omp atomic
    loop += i;
  CHECK_EQ(loop, 45);
#pragma omp taskyield
#pragma omp barrier
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  outside_a_region();
  for (int round = 0; round < 10; round++) {
    undeferred(n);
    undeferred_with_dependences(n);
    final_tasks(n);
    mergeable_untied_priority(n);
    untied_parts(n);
    outside_a_region();
  }
  return 0;
}
