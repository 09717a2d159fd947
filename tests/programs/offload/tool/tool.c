/* SPDX-License-Identifier: Apache-2.0
 *
 * A target region on the host has an initial task of its own: an OMPT tool, here in the program itself, hears of it
 * before anything belongs to it, and of its end (OpenMP 5.2, section 19.5.2.11). The flags of a target task say what it
 * is.
 *
 * Covers: target(nowait), task
 */
#include "../../tool.h"
#include <omp.h>

enum { kTasks = 3, kOwn = 77 };

static int begun, ended, created, targets;

static void on_implicit(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                        unsigned index, int flags) {
  (void)region, (void)size, (void)index;
  if (!(flags & ompt_task_initial)) return;
  if (endpoint == ompt_scope_begin) {
    begun++;
    task->value = kOwn;
  } else {
    ended++;
    CHECK_EQ(task->value, kOwn);
  }
}

static void on_create(ompt_data_t* encountering, const ompt_frame_t* frame, ompt_data_t* task, int flags,
                      int has_dependences, const void* codeptr) {
  (void)frame, (void)has_dependences, (void)codeptr;
  created++;
  CHECK(flags & ompt_task_explicit); /* section 13.8: the events are the same as of the task construct */
  targets += (flags & ompt_task_target) != 0;
  task->value = kOwn;
  CHECK_EQ(encountering->value, kOwn);
}

static void on_sync(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task,
                    const void* codeptr) {
  (void)kind, (void)endpoint, (void)region, (void)codeptr;
  if (task != NULL) CHECK_EQ(task->value, kOwn);
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  CHECK(set_callback(ompt_callback_implicit_task, (ompt_callback_t)on_implicit) != ompt_set_never);
  CHECK(set_callback(ompt_callback_task_create, (ompt_callback_t)on_create) != ompt_set_never);
  CHECK(set_callback(ompt_callback_sync_region, (ompt_callback_t)on_sync) != ompt_set_never);
}

int main(void) {
  int sum = 0;
#pragma omp taskwait /* starts the runtime, and with it the initial task */
  int before = begun;
#pragma omp target map(tofrom : sum)
  for (int t = 0; t < kTasks; t++) {
#pragma omp task shared(sum)
    sum++;
#pragma omp taskwait
  }
  CHECK_EQ(sum, kTasks);
  CHECK(created >= kTasks);
  CHECK_EQ(begun, before + 1);
  CHECK_EQ(ended, 1);
  CHECK_EQ(targets, 0);
#pragma omp target nowait map(tofrom : sum)
  sum++;
#pragma omp taskwait
  CHECK_EQ(targets, 1);
  CHECK_EQ(sum, kTasks + 1);
  return 0;
}
