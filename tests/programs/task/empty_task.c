/* SPDX-License-Identifier: Apache-2.0
 *
 * Two encodings of LLVM's interface that Clang 19 does not use, and Intel's compilers do: a task without code, which
 * stands for `taskwait depend nowait`, and omp_all_memory as the address -1.
 *
 * Covers: task(depend:in/inout)
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

typedef struct Block Block;
typedef int32_t Routine(int32_t, Block*);
struct Block { /* kmp_task_t */
  void* shareds;
  Routine* routine;
  int32_t part_id;
  void* data[2];
};
typedef struct { /* kmp_depend_info_t */
  intptr_t address;
  size_t length;
  uint8_t flags;
} Depend;

Block* __kmpc_omp_task_alloc(KmpIdent*, int32_t, int32_t flags, size_t bytes, size_t shareds, Routine* routine);
int32_t __kmpc_omp_task_with_deps(KmpIdent*, int32_t, Block*, int32_t count, Depend*, int32_t, Depend*);

static int order, at_all, before[4], after[4];
static int next(void) { return __atomic_add_fetch(&order, 1, __ATOMIC_ACQ_REL); }

static int32_t routine_of_all(int32_t thread, Block* block) {
  (void)thread, (void)block;
  at_all = next();
  return 0;
}

static void make_task(Routine* routine, intptr_t address, uint8_t flags) {
  int32_t thread = __kmpc_global_thread_num(&kmp_here);
  Depend depend = {address, 0, flags};
  __kmpc_omp_task_with_deps(&kmp_here, thread, __kmpc_omp_task_alloc(&kmp_here, thread, 1, sizeof(Block), 0, routine),
                            1, &depend, 0, NULL);
}

int main(void) {
  enum { kIn = 1, kOut = 2 };
  int data[4];
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
    order = 0;
    for (int i = 0; i < 4; i++) {
#pragma omp task depend(inout : data[i]) shared(data, before) firstprivate(i)
      {
        usleep(20);
        before[i] = next();
      }
      make_task(NULL, (intptr_t)&data[i], kIn);
    }
    make_task(routine_of_all, -1, kOut);
    for (int i = 0; i < 4; i++)
#pragma omp task depend(in : data[i]) shared(data, after) firstprivate(i)
      after[i] = next();
#pragma omp taskwait
    for (int i = 0; i < 4; i++) {
      CHECK(before[i] < at_all);
      CHECK(after[i] > at_all);
    }
  }
  return 0;
}
