/* SPDX-License-Identifier: Apache-2.0
 *
 * Untied tasks that are undeferred or included, with scheduling points inside. Clang still splits such a task into
 * parts: its first part enqueues the task while its creator waits for it, and the creator must not go on before the
 * last part has ended.
 *
 * Covers: task(if, final, untied), taskyield
 */
#include "../check.h"
#include <omp.h>

static void undeferred(int deferred, int* ran) {
  int parts = 0;
#pragma omp task untied if (deferred) shared(parts, ran)
  {
    int private_state = 40;
    parts++;
#pragma omp taskyield
    private_state++;
    parts++;
#pragma omp task untied shared(parts)
    {
#pragma omp atomic
      parts++;
    }
#pragma omp taskwait
    CHECK_EQ(private_state, 41);
    parts++;
#pragma omp atomic
    (*ran)++;
  }
  if (!deferred) CHECK_EQ(parts, 4);
#pragma omp taskwait
  CHECK_EQ(parts, 4);
}

static void included(int* ran) {
  int outer = 0;
#pragma omp task final(1) shared(outer, ran)
  {
    int inner = 0;
#pragma omp task untied shared(inner)
    {
      inner++;
#pragma omp taskyield
      inner++;
    }
    CHECK_EQ(inner, 2);
    outer++;
#pragma omp atomic
    (*ran)++;
  }
#pragma omp taskwait
  CHECK_EQ(outer, 1);
}

int main(void) {
  int ran = 0;
  for (int round = 0; round < 20; round++) {
#pragma omp parallel shared(ran)
#pragma omp single
    for (int t = 0; t < 10; t++) {
      undeferred(0, &ran);
      undeferred(1, &ran);
      undeferred(t % 2, &ran);
      included(&ran);
    }
  }
  CHECK_EQ(ran, 20 * 10 * 4);
  return 0;
}
