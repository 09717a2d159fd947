/* SPDX-License-Identifier: Apache-2.0
 *
 * Caliper's ompt service (LLNL/Caliper, src/services/ompt/OmptService.cpp): each thread has a stack per attribute, on
 * which an event's begin pushes and its end pops. An end without a begin on the same thread is an error there. */
#include "profiler.h"

static const char* const model_name = "caliper";
enum { kType, kRegion, kMember, kWork, kSync, kAttributes };
static const char* const attributes[kAttributes] = {"omp.thread.type", "omp.parallel", "omp.thread.id", "omp.work",
                                                    "omp.sync"};
static _Thread_local int depth[kAttributes];
static _Atomic long begun[kAttributes], ended[kAttributes];
static ompt_get_proc_id_t get_proc_id;

static void begin(int attribute) {
  EXPECT(!is_over, "%s begins after the end", attributes[attribute]);
  EXPECT(attribute == kType || depth[kType] == 1, "%s begins on a thread that has not", attributes[attribute]);
  depth[attribute]++;
  begun[attribute]++;
}

static void end(int attribute) {
  EXPECT(!is_over, "%s ends after the end", attributes[attribute]);
  EXPECT(depth[attribute] > 0, "%s ends on a thread where it has not begun", attributes[attribute]);
  depth[attribute]--;
  ended[attribute]++;
}

static void scope(int attribute, ompt_scope_endpoint_t endpoint) {
  endpoint == ompt_scope_begin ? begin(attribute) : end(attribute);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t* thread) {
  (void)thread;
  EXPECT(type >= ompt_thread_initial && type <= ompt_thread_other, "type %d", (int)type);
  EXPECT(get_proc_id() >= 0, "no processor");
  begin(kType);
}

static void on_thread_end(ompt_data_t* thread) {
  (void)thread;
  for (int i = kRegion; i < kAttributes; i++) EXPECT(depth[i] == 0, "%s is open at a thread's end", attributes[i]);
  end(kType);
}

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* region, unsigned threads,
                              int flags, const void* code) {
  (void)task, (void)frame, (void)region, (void)flags, (void)code;
  EXPECT(threads > 0, "a region of no threads");
  begin(kRegion);
}

static void on_parallel_end(ompt_data_t* region, ompt_data_t* task, int flags, const void* code) {
  (void)region, (void)task, (void)flags, (void)code;
  end(kRegion);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  (void)region, (void)task, (void)size, (void)index;
  if (!(flags & ompt_task_initial)) scope(kMember, endpoint);
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task,
                    uint64_t count, const void* code) {
  (void)kind, (void)region, (void)task, (void)count, (void)code;
  scope(kWork, endpoint);
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region,
                           ompt_data_t* task, const void* code) {
  (void)kind, (void)region, (void)task, (void)code;
  scope(kSync, endpoint);
}

static void model_starts(ompt_function_lookup_t lookup) {
  get_proc_id = (ompt_get_proc_id_t)looked_up(lookup, "ompt_get_proc_id");
  looked_up(lookup, "ompt_get_state");
  looked_up(lookup, "ompt_enumerate_states");
  HEAR_OF(thread_begin, sometimes);
  HEAR_OF(thread_end, sometimes);
  HEAR_OF(parallel_begin, sometimes);
  HEAR_OF(parallel_end, sometimes);
  HEAR_OF(work, sometimes);
  HEAR_OF(sync_region, sometimes);
  HEAR_OF(implicit_task, sometimes);
}

static void model_ends(void) {
  for (int i = 0; i < kAttributes; i++) {
    EXPECT(begun[i] == ended[i], "%s begun %ld times, ended %ld", attributes[i], begun[i], ended[i]);
  }
  printf("caliper threads=%ld regions=%ld members=%ld work=%ld syncs=%ld\n", begun[kType], begun[kRegion],
         begun[kMember], begun[kWork], begun[kSync]);
}
