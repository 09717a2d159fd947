/* SPDX-License-Identifier: Apache-2.0
 *
 * What an OMPT tool, here in the program itself, hears of cancel and of cancellation points (OpenMP 5.2, section
 * 19.5.2.18).
 *
 * Covers: cancel(parallel, for, taskgroup), cancellation point(parallel, for)
 */
#include "../tool.h"
#include <omp.h>
#include <sched.h>

enum { kFlags = 0x80 };

static _Atomic int heard[kFlags];

static void on_cancel(ompt_data_t* task, int flags, const void* codeptr) {
  CHECK(task != NULL);
  CHECK((flags & ompt_cancel_discarded_task) || codeptr != NULL);
  CHECK_RANGE(flags, 1, kFlags - 1);
  heard[flags]++;
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  CHECK(set_callback(ompt_callback_cancel, (ompt_callback_t)on_cancel) != ompt_set_never);
}

int main(void) {
  int threads = omp_get_max_threads(), chain = 0, ran = 0;
  CHECK(omp_get_cancellation());
#pragma omp parallel
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < threads; i++) {
      if (i == 0) {
#pragma omp cancel for
      }
      for (;;) {
#pragma omp cancellation point for
        sched_yield();
      }
    }
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(inout : chain)
      {
#pragma omp cancel taskgroup
      }
#pragma omp task depend(inout : chain) shared(ran)
      ran++;
    }
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
    for (;;) {
#pragma omp cancellation point parallel
      sched_yield();
    }
  }
  CHECK_EQ(ran, 0);
  CHECK_EQ(heard[ompt_cancel_loop | ompt_cancel_activated], 1);
  CHECK_EQ(heard[ompt_cancel_loop | ompt_cancel_detected], threads - 1);
  CHECK_EQ(heard[ompt_cancel_taskgroup | ompt_cancel_activated], 1);
  CHECK_EQ(heard[ompt_cancel_taskgroup | ompt_cancel_discarded_task], 1);
  CHECK_EQ(heard[ompt_cancel_parallel | ompt_cancel_activated], 1);
  CHECK_EQ(heard[ompt_cancel_parallel | ompt_cancel_detected], threads - 1);
  return 0;
}
