/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads that OpenMP did not create run one region after the other, so that there is nearly always one of them in
 * LLVM's library; a task's `target update from` ends all the same. Run it with kernels that take some milliseconds: who
 * waits for ever is ended by the test's limit.
 */
#include "emulated.h"
#include <pthread.h>

enum { kUpdates = 5 };
static int done;

static void* run_regions(void* unused) {
  int count = 0;
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
#pragma omp target map(tofrom : count)
    count++;
  }
  CHECK(count > 0);
  return unused;
}

int main(void) {
  int value = 0;
  pthread_t threads[2];
#pragma omp target enter data map(to : value)
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_create(&threads[i], NULL, run_regions, NULL), 0);
#pragma omp parallel
#pragma omp single
  for (int i = 1; i <= kUpdates; i++) {
#pragma omp target map(alloc : value)
    value = i;
#pragma omp task
    {
#pragma omp target update from(value)
      CHECK_EQ(value, i);
    }
#pragma omp taskwait
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
#pragma omp target exit data map(delete : value)
  return 0;
}
