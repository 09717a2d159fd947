/* SPDX-License-Identifier: Apache-2.0
 *
 * What fits the first thread's stack fits every other thread's, and a task's: 6 MiB of local variables if `ulimit -s`
 * says 8 MiB or more.
 *
 * Covers: parallel(reduction), task
 */
#include "../check.h"
#include <omp.h>
#include <sys/resource.h>

enum { kBytes = 6 << 20, kPage = 4096 };

__attribute__((noinline)) static int touch(int value) {
  volatile char frame[kBytes];
  int sum = 0;
  for (int i = 0; i < kBytes; i += kPage) frame[i] = (char)value;
  for (int i = 0; i < kBytes; i += kPage) sum += frame[i];
  return sum;
}

int main(void) {
  struct rlimit stack, memory;
  CHECK_EQ(getrlimit(RLIMIT_STACK, &stack), 0);
  CHECK_EQ(getrlimit(RLIMIT_AS, &memory), 0);
  if (stack.rlim_cur < (8u << 20) || memory.rlim_cur != RLIM_INFINITY) return 0;
  int sum = 0, threads = 0;
#pragma omp parallel reduction(+ : sum, threads)
  {
    sum += touch(1);
    threads++;
#pragma omp task
    CHECK_EQ(touch(2), 2 * kBytes / kPage);
#pragma omp taskwait
  }
  CHECK_EQ(sum, threads * (kBytes / kPage));
  return 0;
}
