/* SPDX-License-Identifier: Apache-2.0
 *
 * What an OMPT tool, here in the program itself, hears of tasks that were cancelled before they could start.
 *
 * Covers: marline later cancellation
 */
#include "../tool.h"
#include <marline/marline.h>

enum { kTasks = 10, kBefore = 4 };

static _Atomic int discarded, ended_as[ompt_taskwait_complete + 1];

static void on_cancel(ompt_data_t* task, int flags, const void* codeptr) {
  CHECK(task != NULL && codeptr == NULL);
  CHECK_EQ(flags, ompt_cancel_taskgroup | ompt_cancel_discarded_task);
  discarded++;
}

static void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  CHECK(prior != NULL && next != NULL);
  ended_as[status]++;
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  CHECK_EQ(set_callback(ompt_callback_cancel, (ompt_callback_t)on_cancel), ompt_set_sometimes_paired);
  CHECK_EQ(set_callback(ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule), ompt_set_always);
}

int main(void) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  for (int i = 0; i < kTasks; i++) {
    if (i == kBefore) marline_taskgroup_cancel_later();
#pragma omp task
    {
    }
  }
  CHECK_EQ(discarded, kTasks - kBefore);
  CHECK_EQ(ended_as[ompt_task_cancel], kTasks - kBefore);
  CHECK_EQ(ended_as[ompt_task_complete], kBefore);
  return 0;
}
