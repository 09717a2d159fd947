/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that flang wants to be run in place: `if(.false.)` and `mergeable` are flag 4 of __kmpc_omp_task_alloc and an
 * ordinary creation (flang 23.1.4, -O1). The creator sees what the task has written when the call returns; with
 * dependences, the task runs after its predecessors, and before its successors; its children may be deferred.
 *
 * Covers: task
 */
#include "../check.h"

#include <omp.h>
#include <stdint.h>

typedef struct {
  void* shareds;
  int32_t (*routine)(int32_t, void*);
} Block;
typedef struct {
  intptr_t address;
  size_t bytes;
  uint8_t flags;
} Depend;

int32_t __kmpc_global_thread_num(void*);
Block* __kmpc_omp_task_alloc(void*, int32_t, int32_t, size_t, size_t, int32_t (*)(int32_t, void*));
int32_t __kmpc_omp_task(void*, int32_t, Block*);
int32_t __kmpc_omp_task_with_deps(void*, int32_t, Block*, int32_t, Depend*, int32_t, Depend*);

enum { kTied = 1, kFinal = 2, kMerged = 4, kPriority = 32, kOut = 3, kTimes = 200 };

static volatile int written, children;

static int32_t write_it(int32_t thread, void* block) {
  (void)thread;
  *(int*)*(void**)((Block*)block)->shareds = 7;
  return 0;
}

static int32_t create_children(int32_t thread, void* block) {
  for (int i = 0; i < 4; i++) {
#pragma omp task
#pragma omp atomic
    children++;
  }
#pragma omp taskwait
  return write_it(thread, block);
}

static Block* block_of(int flags, int32_t (*routine)(int32_t, void*), volatile int* target) {
  Block* block = __kmpc_omp_task_alloc(0, __kmpc_global_thread_num(0), flags, 40, sizeof(void*), routine);
  *(volatile int**)block->shareds = target;
  return block;
}

static void create(int flags, int32_t (*routine)(int32_t, void*)) {
  written = 0;
  __kmpc_omp_task(0, __kmpc_global_thread_num(0), block_of(flags, routine, &written));
  CHECK_EQ(written, 7);
}

static void create_between(volatile int* value) {
  int seen = 0;
#pragma omp task depend(inout : value[0])
  {
    double until = omp_get_wtime() + 1e-4;
    while (omp_get_wtime() < until);
    *value = 1;
  }
  Depend on = {(intptr_t)value, sizeof(int), kOut};
  Block* block = block_of(kTied | kMerged, write_it, value);
  __kmpc_omp_task_with_deps(0, __kmpc_global_thread_num(0), block, 1, &on, 0, 0);
  CHECK_EQ(*value, 7); /* after the predecessor, which writes 1 */
#pragma omp task depend(inout : value[0]) shared(seen)
  seen = *value;
#pragma omp taskwait
  CHECK_EQ(seen, 7);
}

int main(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTimes; i++) {
    create(kTied | kMerged, write_it);
    create(kTied | kMerged | kPriority, write_it);
    create(kTied | kMerged | kFinal, write_it);
    create(kTied | kMerged, create_children);
    create_between(&value);
  }
  CHECK_EQ(children, 4 * kTimes);
  return 0;
}
