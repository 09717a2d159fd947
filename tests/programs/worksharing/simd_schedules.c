/* SPDX-License-Identifier: Apache-2.0
 *
 * Schedules with the simd modifier as Intel's compilers call them: all chunks but the loop's last have a multiple of as
 * many iterations as the vector is long, whatever the schedule, and each iteration is executed once.
 *
 * Covers: omp_set_schedule
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

void __kmpc_dispatch_init_4(KmpIdent*, int32_t, int32_t schedule, int32_t, int32_t, int32_t, int32_t chunk);
int __kmpc_dispatch_next_4(KmpIdent*, int32_t, int32_t* last, int32_t* lower, int32_t* upper, int32_t* stride);

enum { kGuidedSimd = 46, kRuntimeSimd = 47, kVector = 4, kMost = 1000 };

static void loop(int32_t schedule, int n, int multiple) {
  int hits[kMost] = {0}, lasts = 0;
#pragma omp parallel shared(hits, lasts)
  {
    int32_t thread = __kmpc_global_thread_num(&kmp_here), last, lower, upper, stride;
    __kmpc_dispatch_init_4(&kmp_here, thread, schedule, 0, n - 1, 1, kVector);
    while (__kmpc_dispatch_next_4(&kmp_here, thread, &last, &lower, &upper, &stride)) {
      CHECK_RANGE(lower, 0, upper);
      CHECK_RANGE(upper, lower, n - 1);
      CHECK_EQ(last != 0, upper == n - 1);
      if (!last) CHECK_EQ((upper - lower + 1) % multiple, 0);
      for (int i = lower; i <= upper; i++) __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
      if (last) __atomic_fetch_add(&lasts, 1, __ATOMIC_RELAXED);
    }
  }
  for (int i = 0; i < n; i++) CHECK_EQ(hits[i], 1);
  CHECK_EQ(lasts, 1);
}

int main(void) {
  static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
  static const int lengths[] = {1, 3, 4, 27, 100, 999};
  for (int l = 0; l < 6; l++) {
    loop(kGuidedSimd, lengths[l], kVector);
    for (int k = 0; k < 3; k++)
      for (int chunk = 0; chunk < 4; chunk++) {
        omp_set_schedule(kinds[k], chunk);
        loop(kRuntimeSimd, lengths[l], kVector * (chunk > 0 ? chunk : 1));
      }
  }
  return 0;
}
