/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM's taskgraph entry points, called as its code generation is about to call them: no released compiler does yet.
 * The region reads its shared variables through its argument block, which differs from encounter to encounter.
 *
 * Covers: marline persistent graphs
 */
#include "../check.h"
#include "llvm_taskgraph.h"

#include <omp.h>

typedef struct {
  Task task;
  int factor;
} Multiply;

typedef struct {
  long* value;
  int factor, tasks;
} Arguments;

static int multiply(int thread, Task* task) {
  (void)thread;
  long* value = *(long**)task->shareds;
  *value = *value * ((Multiply*)task)->factor + 1;
  return 0;
}

static void region(void* data) {
  Arguments* a = data;
  for (int i = 0; i < a->tasks; i++) {
    int thread = __kmpc_global_thread_num(NULL);
    Task* task = __kmpc_omp_task_alloc(NULL, thread, 1, sizeof(Multiply), sizeof(long*), multiply);
    *(long**)task->shareds = a->value;
    ((Multiply*)task)->factor = a->factor;
    Depend depend = {a->value, sizeof(long), 3};
    __kmpc_taskgraph_task(NULL, thread, task, 1, sizeof(Multiply), sizeof(long*), 1, &depend, NULL, NULL);
  }
}

static long expected(int factor, int tasks) {
  long value = 1;
  for (int i = 0; i < tasks; i++) value = value * factor + 1;
  return value;
}

static void* handle;

/* The result is there when the call returns: the region is a taskgroup. */
static void encounter(uintptr_t id, int reset, int factor, int tasks) {
  long value = 1;
  Arguments arguments = {&value, factor, tasks};
  __kmpc_taskgraph(NULL, __kmpc_global_thread_num(NULL), &handle, id, reset, 0, region, &arguments);
  CHECK_EQ(value, expected(factor, tasks));
}

/* As many graphs as the program names. */
static void many_ids(void) {
  for (int i = 0; i < 3; i++) {
    for (uintptr_t id = 0; id < 300; id++) encounter(id << 40, 0, 2, 1 + (int)(id % 3));
  }
}

/* Tasks of before the region stand before its tasks, in every encounter. */
static void behind_earlier_tasks(int factor, int tasks) {
  static long value;
#pragma omp task depend(out : value)
  {
#pragma omp taskyield
    value = 1;
  }
  Arguments arguments = {&value, factor, tasks};
  __kmpc_taskgraph(NULL, __kmpc_global_thread_num(NULL), &handle, 3, 0, 0, region, &arguments);
  CHECK_EQ(value, expected(factor, tasks));
  value = 0;
}

static void nogroup(int factor, int tasks) {
  long value = 1;
  Arguments arguments = {&value, factor, tasks};
  __kmpc_taskgraph(NULL, __kmpc_global_thread_num(NULL), &handle, 7, 0, 1, region, &arguments);
#pragma omp taskwait
  CHECK_EQ(value, expected(factor, tasks));
}

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    {
      for (int i = 0; i < 20; i++) {
        encounter(0, 0, 2 + i % 2, 9);
        encounter(1, 0, 3, 5);
        encounter(2, i % 4 == 0, 3, 5 + i / 8); /* changes, told and untold */
        behind_earlier_tasks(2 + i % 3, 4);
      }
      nogroup(2, 3);
      many_ids();
#pragma omp task /* another task encounters the same region */
      encounter(0, 0, 5, 9);
#pragma omp taskwait
    }
    for (int i = 0; i < 50; i++) /* all threads at once */
      encounter(0, 0, 2, 9);
  }
  encounter(0, 0, 2, 9);
  return 0;
}
