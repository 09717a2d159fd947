/* SPDX-License-Identifier: Apache-2.0
 *
 * What an OMPT tool, here in the program itself, hears of tasks that were cancelled before they could start.
 *
 * Covers: marline later cancellation
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp-tools.h>

enum { kTasks = 10, kBefore = 4 };

static _Atomic int discarded, ended_as[ompt_taskwait_complete + 1];

static void on_cancel(ompt_data_t *task, int flags, const void *codeptr) {
  CHECK(task != NULL && codeptr == NULL);
  CHECK_EQ(flags, ompt_cancel_taskgroup | ompt_cancel_discarded_task);
  discarded++;
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next) {
  CHECK(prior != NULL && next != NULL);
  ended_as[status]++;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data) {
  ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  CHECK_EQ(set_callback(ompt_callback_cancel, (ompt_callback_t)on_cancel), ompt_set_sometimes);
  CHECK_EQ(set_callback(ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule), ompt_set_always);
  return device == 0 && data != NULL;
}

static void finalize(ompt_data_t *data) { CHECK(data != NULL); }

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  return version != 0 && runtime != NULL ? &result : NULL;
}

int main(void) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  for (int i = 0; i < kTasks; i++) {
    if (i == kBefore)
      marline_taskgroup_cancel_later();
#pragma omp task
    {
    }
  }
  CHECK_EQ(discarded, kTasks - kBefore);
  CHECK_EQ(ended_as[ompt_task_cancel], kTasks - kBefore);
  CHECK_EQ(ended_as[ompt_task_complete], kBefore);
  return 0;
}
