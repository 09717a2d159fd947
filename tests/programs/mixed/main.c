/* SPDX-License-Identifier: Apache-2.0
 *
 * One process, two compilers: a Clang program with a GCC-built shared object (a BLAS, in life). Both must end in one
 * runtime: the same library answers, ICVs are common, teams nest, tasks of both are siblings.
 *
 * Covers: marline process
 */
#include "../check.h"
#include <omp.h>

void* gcc_entry(void);
void gcc_set_threads(int n);
int gcc_max_threads(void);
int gcc_level(void);
long gcc_tasks(int n);
void gcc_spawn(int n, long* sum, int* order);
void gcc_critical(long* counter);

static void one_library(void) {
  Dl_info ours, theirs;
  CHECK(dladdr((void*)omp_get_num_threads, &ours) != 0);
  CHECK(dladdr(gcc_entry(), &theirs) != 0);
  if (ours.dli_fbase != theirs.dli_fbase)
    check_failed(__FILE__, __LINE__, "two runtimes: %s and %s", ours.dli_fname, theirs.dli_fname);
}

static void common_state(int n) {
  gcc_set_threads(n + 3);
  CHECK_EQ(omp_get_max_threads(), n + 3);
  omp_set_num_threads(n);
  CHECK_EQ(gcc_max_threads(), n);
#pragma omp parallel
  CHECK_EQ(gcc_level(), 100 + omp_get_thread_num());
}

static void tasks_of_both(int n) {
  CHECK_EQ(gcc_tasks(100), 4950);
  long sum = 0, counter = 0;
  int order[1] = {0};
#pragma omp parallel shared(sum, order, counter)
  {
#pragma omp single
    {
      gcc_spawn(50, &sum, order);
#pragma omp task shared(order, sum) depend(in : order[0])
      {
        CHECK_EQ(order[0], 50);
        CHECK_EQ(sum, 1225);
      }
      gcc_spawn(50, &sum, order);
#pragma omp taskwait
      CHECK_EQ(order[0], 100);
    }
    for (int i = 0; i < 100; i++) {
      gcc_critical(&counter);
    }
  }
  CHECK_EQ(sum, 2450);
  CHECK_EQ(counter, 100L * n);
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  one_library();
  for (int round = 0; round < 20; round++) {
    common_state(n);
    tasks_of_both(n);
  }
  return 0;
}
