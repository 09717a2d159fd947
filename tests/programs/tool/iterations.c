/* SPDX-License-Identifier: Apache-2.0
 *
 * For a tool, each iteration of a persistent graph that waits for its tasks is a taskgroup region: it begins before the
 * first task is created, and ends after the last one has ended. An iteration that overlaps with the next is none.
 *
 * Covers: marline persistent graphs
 */
#include "../tool.h"
#include <marline/marline.h>
#include <omp.h>

enum { kIterations = 6, kTasks = 5 };
static int begun, waited, ended, created, completed;

static void on_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                      const void* code) {
  if (kind != ompt_sync_region_taskgroup) return;
  CHECK(task != NULL && parallel != NULL);
  if (endpoint == ompt_scope_begin) {
    CHECK_EQ(begun, ended);
    CHECK_EQ(created, begun * kTasks);
    begun++;
  } else {
    ended++;
    CHECK_EQ(waited, ended);
    CHECK_EQ(created, ended * kTasks);
    CHECK_EQ(__atomic_load_n(&completed, __ATOMIC_SEQ_CST), ended * kTasks);
  }
}

static void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    const void* code) {
  if (kind == ompt_sync_region_taskgroup && endpoint == ompt_scope_begin) waited++;
}

static void on_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* task, int flags, int has_dependences,
                      const void* code) {
  if (flags & ompt_task_explicit) created++;
}

static void on_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  if (status == ompt_task_complete) __atomic_fetch_add(&completed, 1, __ATOMIC_SEQ_CST);
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  set_callback(ompt_callback_sync_region, (ompt_callback_t)on_region);
  set_callback(ompt_callback_sync_region_wait, (ompt_callback_t)on_wait);
  set_callback(ompt_callback_task_create, (ompt_callback_t)on_create);
  set_callback(ompt_callback_task_schedule, (ompt_callback_t)on_schedule);
}

static void run(int mode) {
  static int cells[kTasks];
  begun = waited = ended = created = completed = 0;
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, mode) {
    for (int i = 0; i < kTasks; i++) {
#pragma omp task depend(inout : cells[i])
      cells[i]++;
    }
  }
#pragma omp taskwait
  CHECK_EQ(created, kIterations * kTasks);
  CHECK_EQ(begun, mode == MARLINE_GRAPH_NOWAIT ? 0 : kIterations);
  CHECK_EQ(ended, begun);
  CHECK_EQ(waited, begun);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    run(MARLINE_GRAPH_BARRIER);
    run(MARLINE_GRAPH_NOWAIT);
    run(MARLINE_GRAPH_REPLAY);
  }
  return 0;
}
