/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tool hears of events that few programs have (OpenMP 5.2, section 19.5.2): locks before anything else, the
 * parts of loops and sections, a taskloop's tasks, taskyield, cancelled tasks, warnings; and of the end when it asks
 * for it.
 *
 * Covers: taskloop(grainsize), taskyield, cancel(taskgroup), error(severity), omp_init_lock, for(schedule:static)
 */
#define TOOL_LOOKS_UP
#include "../tool.h"
#include <omp.h>

enum { kIterations = 40, kGrain = 4 };

static ompt_finalize_tool_t finalize_tool;
static ompt_get_task_info_t task_info;
static _Atomic int locks, threads_begun, threads_ended, finished, yields, ended_cancelled, warnings;
static _Atomic int loop_iterations, loop_begins, taskloop_chunks, taskloop_iterations;
static _Atomic int task_begins[kIterations];

static void on_lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id, const void* code) {
  CHECK(kind == ompt_mutex_lock && hint == 0 && impl != 0 && id != 0 && code != NULL);
  CHECK(threads_begun >= 1);
  locks++;
}

static void on_thread_begin(ompt_thread_t kind, ompt_data_t* thread) {
  CHECK((kind == ompt_thread_initial || kind == ompt_thread_worker) && thread->value == 0);
  threads_begun++;
}

static void on_thread_end(ompt_data_t* thread) {
  CHECK(thread != NULL);
  threads_ended++;
}

static void on_dispatch(ompt_data_t* parallel, ompt_data_t* task, ompt_dispatch_t kind, ompt_data_t instance) {
  CHECK(parallel != NULL && task != NULL);
  ompt_dispatch_chunk_t* chunk = instance.ptr;
  if (kind == ompt_dispatch_ws_loop_chunk) {
    CHECK(chunk->start + chunk->iterations <= kIterations);
    loop_iterations += (int)chunk->iterations;
  } else if (kind == ompt_dispatch_taskloop_chunk) {
    ompt_data_t* current = NULL;
    CHECK_EQ(task_info(0, NULL, &current, NULL, NULL, NULL), 2);
    CHECK(current == task); /* it is told in the task, where that begins */
    CHECK_EQ(chunk->iterations, kGrain);
    CHECK_EQ(task_begins[chunk->start]++, 0);
    taskloop_iterations += (int)chunk->iterations;
    taskloop_chunks++;
  }
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    uint64_t count, const void* code) {
  CHECK(parallel != NULL && task != NULL);
  if (kind == ompt_work_loop_dynamic && endpoint == ompt_scope_begin) {
    CHECK(count == kIterations && code != NULL);
    loop_begins++;
  }
}

static void on_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  CHECK(prior != NULL && next != NULL);
  if (status == ompt_task_yield) yields++;
  if (status == ompt_task_cancel) ended_cancelled++;
}

static void on_error(ompt_severity_t severity, const char* message, size_t length, const void* code) {
  CHECK(severity == ompt_warning && code != NULL && length == 10 && strncmp(message, "not so bad", length) == 0);
  warnings++;
}

static void tool_lookup(ompt_function_lookup_t lookup) {
  finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  set_callback(ompt_callback_lock_init, (ompt_callback_t)on_lock_init);
  set_callback(ompt_callback_thread_begin, (ompt_callback_t)on_thread_begin);
  set_callback(ompt_callback_thread_end, (ompt_callback_t)on_thread_end);
  set_callback(ompt_callback_dispatch, (ompt_callback_t)on_dispatch);
  set_callback(ompt_callback_work, (ompt_callback_t)on_work);
  set_callback(ompt_callback_task_schedule, (ompt_callback_t)on_schedule);
  CHECK(set_callback(ompt_callback_error, (ompt_callback_t)on_error) == ompt_set_always);
}

/* The first call of the program's to the runtime: the tool must have been found before. */
static void lock_first(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  CHECK_EQ(locks, 1);
  omp_destroy_lock(&lock);
}

static void loops(void) {
  int sum = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
  for (int i = 0; i < kIterations; i++) sum += i;
  CHECK_EQ(loop_iterations, kIterations);
  CHECK_EQ(loop_begins, omp_get_max_threads());
#ifdef __clang__ /* GCC opens static loops in line */
  loop_iterations = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < kIterations; i++) sum += i;
  CHECK_EQ(loop_iterations, kIterations);
#endif
  CHECK(sum >= kIterations * (kIterations - 1) / 2);
}

static void tasks(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(kGrain)
    for (int i = 0; i < kIterations; i++) finished++;
  }
  CHECK_EQ(finished, kIterations);
  CHECK_EQ(taskloop_chunks, kIterations / kGrain);
  CHECK_EQ(taskloop_iterations, kIterations);
}

static void yielding(void) {
  int done = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp task shared(done)
    done = 1;
#pragma omp taskyield
  }
  CHECK(done == 1 && yields >= 1);
}

static void cancelling(void) {
  ended_cancelled = 0;
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
  {
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
    }
  }
  CHECK_EQ(ended_cancelled, omp_get_cancellation() ? 1 : 0);
}

int main(void) {
  lock_first();
  loops();
  tasks();
  yielding();
  cancelling();
#ifdef HAVE_ERROR
#pragma omp error at(execution) severity(warning) message("not so bad")
  CHECK_EQ(warnings, 1);
#endif
  CHECK_EQ(threads_ended, 0);
  finalize_tool();
  CHECK_EQ(threads_ended, threads_begun);
#pragma omp parallel
  CHECK(omp_get_num_threads() >= 1);
  CHECK_EQ(threads_ended, threads_begun);
  return 0;
}
