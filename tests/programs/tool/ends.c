/* SPDX-License-Identifier: Apache-2.0
 *
 * Every thread's end of its last region is told before the tool is finalised, also if the tool does not ask for threads
 * (OpenMP 5.2, sections 19.5.2.11 and 19.5.2.13).
 *
 * Covers: parallel
 */
#define TOOL_ENDS
#include "../tool.h"
#include <omp.h>

enum { kRegions = 20, kThreads = 4 };
static int begun, ended, waits_begun, waits_ended;

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  if (flags & ompt_task_initial) return;
  __atomic_fetch_add(endpoint == ompt_scope_begin ? &begun : &ended, 1, __ATOMIC_SEQ_CST);
}

static void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    const void* code) {
  __atomic_fetch_add(endpoint == ompt_scope_begin ? &waits_begun : &waits_ended, 1, __ATOMIC_SEQ_CST);
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  set_callback(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
  set_callback(ompt_callback_sync_region_wait, (ompt_callback_t)on_wait);
}

static void tool_ends(void) {
  CHECK_EQ(begun, kRegions * kThreads);
  CHECK_EQ(ended, begun);
  CHECK_EQ(waits_ended, waits_begun);
}

int main(void) {
  int threads = 0;
  omp_set_dynamic(0);
  for (int i = 0; i < kRegions; i++) {
#pragma omp parallel num_threads(kThreads) reduction(+ : threads)
    threads++;
  }
  CHECK_EQ(threads, kRegions * kThreads);
  return 0;
}
