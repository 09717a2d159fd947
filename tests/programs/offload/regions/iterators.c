/* SPDX-License-Identifier: Apache-2.0
 *
 * Iterators in the depend clauses of device constructs: many dependences by one clause. (In target update, the
 * compilers before Clang 22 know no iterators, and Clang 22 moves the first element only.)
 *
 * Covers: target(depend, nowait), target enter data(depend), target exit data(depend)
 */
#include "../device.h"

#define N 8

static void dependences(void) {
  int parts[N] = {0}, total = 0, more = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < N; i++) {
#pragma omp target nowait map(tofrom : parts[i : 1]) depend(out : parts[i]) firstprivate(i)
      parts[i] = i + 1;
    }
#pragma omp target nowait map(to : parts) map(tofrom : total) depend(iterator(int i = 0 : N), in : parts[i]) \
    depend(out : total)
    for (int i = 0; i < N; i++) total += parts[i];
#pragma omp task depend(in : total) depend(iterator(int i = 0 : N : 2), inout : parts[i]) shared(parts, total, more)
    {
      more = total;
      parts[0] = 100;
    }
#pragma omp target enter data map(to : parts) depend(iterator(int i = 0 : N), inout : parts[i]) nowait
#pragma omp target nowait map(tofrom : parts) depend(iterator(int i = N - 1 : -1 : -1), inout : parts[i])
    parts[1] += parts[0];
#pragma omp target exit data map(from : parts) depend(iterator(int i = 0 : N), inout : parts[i]) nowait
#pragma omp taskwait
  }
  CHECK_EQ(total, N * (N + 1) / 2);
  CHECK_EQ(more, total);
  CHECK_EQ(parts[1], 102);
}

int main(void) {
  dependences();
  return 0;
}
