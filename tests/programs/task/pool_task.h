/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks with threadset(omp_pool), created as Clang 22 and 23 do: flag 0x80 in __kmpc_omp_task_alloc (read from the code
 * that Clang 22.1 generates with -fopenmp-version=60). So programs of any compiler can have them.
 */
#ifndef PROGRAMS_POOL_TASK_H
#define PROGRAMS_POOL_TASK_H

#include <stddef.h>
#include <stdint.h>

enum { kTied = 0x1, kInPool = 0x80 };

typedef struct PoolTask PoolTask;
struct PoolTask { /* kmp_task_t, then the privates */
  void* shareds;
  int32_t (*routine)(int32_t, PoolTask*);
  int32_t part_id;
  void* destructors;
  int64_t priority;
  void (*body)(void*);
  void* argument;
};

typedef struct { /* kmp_depend_info_t; flags: 1 in, 3 out and inout, 4 mutexinoutset */
  intptr_t address;
  size_t bytes;
  uint8_t flags;
} PoolDepend;

void* __kmpc_omp_task_alloc(void* where, int32_t thread, int32_t flags, size_t bytes, size_t shared_bytes,
                            int32_t (*routine)(int32_t, PoolTask*));
int32_t __kmpc_omp_task(void* where, int32_t thread, PoolTask* task);
int32_t __kmpc_omp_task_with_deps(void* where, int32_t thread, PoolTask* task, int32_t count, PoolDepend* list,
                                  int32_t noalias_count, PoolDepend* noalias_list);
int32_t __kmpc_global_thread_num(void* where);
int omp_is_free_agent(void);
int omp_ancestor_is_free_agent(int level);

static int32_t run_pool_task(int32_t thread, PoolTask* task) {
  (void)thread;
  task->body(task->argument);
  return 0;
}

/* A task that calls body(argument). flags: kTied and kInPool. depends: `count` of them. */
static inline void spawn_task(int flags, void (*body)(void*), void* argument, int count, PoolDepend* depends) {
  const int32_t thread = __kmpc_global_thread_num(NULL);
  PoolTask* task = __kmpc_omp_task_alloc(NULL, thread, flags, sizeof(PoolTask), 0, run_pool_task);
  task->body = body;
  task->argument = argument;
  if (count == 0) {
    __kmpc_omp_task(NULL, thread, task);
  } else {
    __kmpc_omp_task_with_deps(NULL, thread, task, count, depends, 0, NULL);
  }
}

#endif
