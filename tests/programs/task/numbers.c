/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of tasks that LLVM's runtime tells debuggers: a task's own, the same for as long as it lives and no other
 * living task's, and its parent's.
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);

enum { kChildren = 20, kMost = 64 };
static uint64_t implicit[kMost], children[kChildren];

static void check_distinct(const uint64_t* list, int count) {
  for (int i = 0; i < count; i++) {
    CHECK(list[i] != 0);
    for (int j = 0; j < i; j++) CHECK(list[i] != list[j]);
  }
}

static void child(int i, uint64_t parent) {
  children[i] = __kmpc_get_taskid();
  CHECK(__kmpc_get_parent_taskid() == parent);
  uint64_t self = children[i];
#pragma omp task firstprivate(self)
  {
    CHECK(__kmpc_get_parent_taskid() == self);
    CHECK(__kmpc_get_taskid() != self);
  }
#pragma omp taskwait
  CHECK(__kmpc_get_taskid() == self);
#pragma omp task if (0) firstprivate(self)
  CHECK(__kmpc_get_parent_taskid() == self);
}

int main(void) {
  omp_set_dynamic(0);
  uint64_t initial = 0;
  int n = 0, started = 0;
#pragma omp parallel /* so that the runtime knows the thread */
  {
  }
  initial = __kmpc_get_taskid();
  CHECK(initial != 0);
  CHECK(__kmpc_get_parent_taskid() == 0);
#pragma omp parallel shared(n)
  {
    uint64_t self = __kmpc_get_taskid();
    implicit[omp_get_thread_num()] = self;
    CHECK(__kmpc_get_parent_taskid() == initial);
#pragma omp barrier
#pragma omp single
    {
      n = omp_get_num_threads();
      self = __kmpc_get_taskid();
      for (int i = 0; i < kChildren; i++) {
#pragma omp task firstprivate(i, self) shared(started)
        {
          child(i, self);
#pragma omp atomic
          started++;
        }
      }
    }
  }
  CHECK_EQ(started, kChildren);
  check_distinct(implicit, n);
  CHECK(__kmpc_get_taskid() == initial);
  return 0;
}
