/* SPDX-License-Identifier: Apache-2.0
 *
 * TAU with TAU_OMPT_SUPPORT_LEVEL=full (UO-OACISS/tau2, src/Profile/TauOMPT.cpp): one stack of timers a thread. The
 * begin of a region, an implicit task, a worksharing construct or a synchronisation starts a timer on it, the end
 * stops the innermost one, whichever it is. A task has its timer from its creation; task_schedule stops the innermost
 * timer if the prior task has one, and starts that of the next. Only a region's end names the timer that it stops.
 * TAU reads the data of both tasks of a task_schedule, so events whose next task is null are not for it. */
#include "profiler.h"

static const char* const model_name = "tau";
enum { kDeep = 4096 };
static _Thread_local const void* timers[kDeep];
static _Thread_local int depth;
static _Thread_local int is_known; /* it has begun */
static _Atomic long threads, regions, members, tasks, switches, works, syncs, open_timers;
static _Atomic uintptr_t handles = 1;

static const void* new_timer(void) { return (const void*)(handles++ << 4); }

static void start(const void* timer) {
  EXPECT(!is_over && is_known, "a timer starts %s", is_over ? "after the end" : "on an unknown thread");
  EXPECT(depth < kDeep, "timers are nested %d deep", depth);
  timers[depth++] = timer;
  open_timers++;
}

static const void* stop(const char* what) {
  EXPECT(!is_over && is_known, "%s stops a timer %s", what, is_over ? "after the end" : "on an unknown thread");
  EXPECT(depth > 0, "%s stops a timer, none runs", what);
  open_timers--;
  return timers[--depth];
}

static void scope(ompt_scope_endpoint_t endpoint, const void* code, const char* what) {
  if (code == NULL) return;
  endpoint == ompt_scope_begin ? start(new_timer()) : (void)stop(what);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t* thread) {
  EXPECT(!is_known, "a thread begins twice");
  is_known = 1;
  threads++;
  if (type == ompt_thread_initial) return;
  thread->ptr = (void*)new_timer();
  start(thread->ptr);
}

static void on_thread_end(ompt_data_t* thread) {
  if (thread->ptr == NULL) return; /* the initial one */
  EXPECT(depth == 1 && timers[0] == thread->ptr, "a thread ends with %d timers", depth);
  stop("thread_end");
}

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* region, unsigned requested,
                              int flags, const void* code) {
  (void)task, (void)frame, (void)requested, (void)flags;
  EXPECT(code != NULL, "a region without an address");
  regions++;
  region->ptr = (void*)new_timer();
  start(region->ptr);
}

static void on_parallel_end(ompt_data_t* region, ompt_data_t* task, int flags, const void* code) {
  (void)task, (void)flags;
  EXPECT(code != NULL, "a region's end without an address");
  EXPECT(stop("parallel_end") == region->ptr, "a region's timer overlaps another one");
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  (void)region, (void)size, (void)index, (void)flags;
  members++;
  if (endpoint == ompt_scope_begin) {
    task->ptr = (void*)new_timer();
    start(task->ptr);
  } else if (task->ptr != NULL) {
    EXPECT(stop("implicit_task") == task->ptr, "an implicit task's timer overlaps another one");
  }
}

static void on_task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* task, int flags, int depends,
                           const void* code) {
  (void)frame, (void)flags, (void)depends;
  EXPECT(parent != NULL && task != NULL && code != NULL, "a task without parent or address");
  tasks++;
  task->ptr = (void*)new_timer();
}

static void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  EXPECT(prior != NULL && next != NULL, "a task is null: status %d", (int)status);
  switches++;
  if (prior->ptr != NULL) stop("task_schedule");
  if (next->ptr != NULL) start(next->ptr);
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task,
                    uint64_t count, const void* code) {
  (void)kind, (void)region, (void)task, (void)count;
  works++;
  scope(endpoint, code, "work");
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region,
                           ompt_data_t* task, const void* code) {
  (void)kind, (void)region, (void)task;
  syncs++;
  scope(endpoint, code, "sync_region");
}

static void model_starts(ompt_function_lookup_t lookup) {
  looked_up(lookup, "ompt_get_task_info");
  looked_up(lookup, "ompt_get_parallel_info");
  looked_up(lookup, "ompt_get_unique_id");
  HEAR_OF(parallel_begin, sometimes);
  HEAR_OF(parallel_end, sometimes);
  HEAR_OF(task_create, sometimes);
  HEAR_OF(task_schedule, sometimes);
  HEAR_OF(implicit_task, sometimes);
  HEAR_OF(thread_begin, sometimes);
  HEAR_OF(thread_end, sometimes);
  HEAR_OF(work, sometimes);
  HEAR_OF(sync_region, sometimes);
}

static void model_ends(void) {
  EXPECT(open_timers == 0, "%ld timers still run", open_timers);
  printf("tau threads=%ld regions=%ld members=%ld tasks=%ld switches=%ld work=%ld syncs=%ld\n", threads, regions,
         members / 2, tasks, switches, works / 2, syncs / 2);
}
