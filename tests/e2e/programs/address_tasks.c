/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that yield with arrays on their stacks; with an argument, the address of a task's variable is used after the
 * task has ended.
 */
#include <stdio.h>

int main(int argc, char** argv) {
  int* volatile kept = NULL;
  int sum = 0;
  (void)argv;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 200; ++i) {
#pragma omp task untied shared(sum) firstprivate(i)
    {
      volatile int many[64];
      many[i % 64] = i;
#pragma omp taskyield
#pragma omp atomic
      sum += many[i % 64];
    }
  }
  printf("%d\n", sum);
  if (argc == 1) return 0;
#pragma omp parallel
#pragma omp single
  {
    int own = 1;
#pragma omp task firstprivate(own) shared(kept)
    kept = &own;
#pragma omp taskwait
    printf("%d\n", *kept);
  }
  return 0;
}
