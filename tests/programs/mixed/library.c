/* SPDX-License-Identifier: Apache-2.0
 *
 * The half that GCC builds into a shared object: see main.c.
 */
#include <omp.h>

void* gcc_entry(void) { return (void*)omp_get_num_threads; }

void gcc_set_threads(int n) { omp_set_num_threads(n); }

int gcc_max_threads(void) { return omp_get_max_threads(); }

int gcc_level(void) { return omp_get_level() * 100 + omp_get_thread_num(); }

long gcc_tasks(int n) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; i++) {
#pragma omp task shared(sum) firstprivate(i)
    {
#pragma omp atomic
      sum += i;
    }
  }
  return sum;
}

/* Tasks of the caller's team, whichever compiler opened it. */
void gcc_spawn(int n, long* sum, int* order) {
  for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i, sum, order) depend(inout : order[0])
    {
      *sum += i;
      order[0]++;
    }
  }
}

void gcc_critical(long* counter) {
#pragma omp critical
  (*counter)++;
}
