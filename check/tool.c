/* SPDX-License-Identifier: Apache-2.0
 *
 * The checker as an OMPT tool. Marline notifies it when tasks leave their threads (marline_suspend_observe), and it
 * reports the locks that they hold. It also checks whether frames have been left (frames.h). Any thread, for the task
 * that it runs.
 */
#include "frames.h"
#include "held.h"
#include "report.h"
#include "tasks.h"

#include <marline/marline.h>
#include "../common/ompt.h"
#include <stddef.h>

/* kHeldAtMost: locks of one task that a report names. kAncestors: ancestors that are looked at; deeper ones are
 * taken to hold no locks. */
enum { kHeldAtMost = 16, kAncestors = 64 };

static ompt_get_task_info_t task_info;

/* A task waits for its children, perhaps with children on its stack. */
static void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    const void* code) {
  (void)parallel, (void)code;
  if (task != NULL && (kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup) && held_any())
    held_set_waiting(task->value, endpoint == ompt_scope_begin);
  if (endpoint == ompt_scope_begin && kind == ompt_sync_region_barrier_implicit_parallel)
    frames_end(task);
  else if (endpoint == ompt_scope_begin)
    frames_look(task);
}

/* A task leaves its thread. Its creator leaves with it if the task is undeferred, because the creator then waits for
 * it on the same stack. The locks of ancestors that wait for their children stay locked until the task is back. */
static void on_suspend(void) {
  bool is_undeferred = true;
  for (int level = 0; level < kAncestors && held_any(); ++level) {
    ompt_data_t* data = NULL;
    int flags = 0;
    if (task_info(level, &flags, &data, NULL, NULL, NULL) == 0 || data == NULL || (flags & ompt_task_initial) != 0)
      return;
    Held held[kHeldAtMost];
    const int count = data->value != 0 ? held_by(data->value, held, kHeldAtMost) : 0;
    for (int i = 0; i < count; ++i) {
      if (is_undeferred || held[i].is_waiting) report_held(&held[i]);
    }
    is_undeferred = is_undeferred && (flags & ompt_task_undeferred) != 0;
  }
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* tool) {
  (void)device, (void)tool;
  void (*observe)(marline_suspend_fn) = (void (*)(marline_suspend_fn))lookup("marline_suspend_observe");
  if (observe == NULL) return 0; /* not Marline */
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  frames_begin(lookup);
  tasks_begin(lookup, frames_create, frames_look);
  set(ompt_callback_sync_region_wait, (ompt_callback_t)on_wait);
  observe(on_suspend);
  return 1;
}

static void finalize(ompt_data_t* tool) { (void)tool; }

__attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned omp_version,
                                                                                 const char* runtime_version) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)omp_version, (void)runtime_version;
  return report_open() ? &result : NULL;
}
