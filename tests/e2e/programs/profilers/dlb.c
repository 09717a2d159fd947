/* SPDX-License-Identifier: Apache-2.0
 *
 * DLB with TALP (bsc-pm/dlb, src/LB_numThreads/omptool.c and omptm_omp5.c, src/talp/talp_openmp.c). A region of the
 * initial task is at level 1, and its record is static; an inner region is one level below the task that opens it,
 * which every task is told at its begin. A region has one sample a thread, as many as it requests; its end reads the
 * samples of all that took part. LeWI calls omp_set_num_threads when the tool starts and in a region's parallel_begin;
 * the model does so if DLB_THREADS is set. */
#include "profiler.h"
#include <omp.h>

static const char* const model_name = "dlb";
typedef struct {
  uint64_t level;
  unsigned requested, actual;
  _Atomic(void*)* samples; /* by the number of a thread in the team */
} Region;

static Region outermost = {1, 0, 0, NULL};
static _Thread_local int sample; /* its address is the thread; 1 once it has begun */
static _Atomic long threads, regions, inner, tasks, switches, syncs;
static int lent;

static void on_thread_begin(ompt_thread_t type, ompt_data_t* thread) {
  (void)type, (void)thread;
  EXPECT(sample == 0, "a thread begins twice");
  sample = 1;
  threads++;
}

static void on_thread_end(ompt_data_t* thread) {
  (void)thread;
  EXPECT(sample == 1 && !is_over, "a thread ends that has not begun");
  sample = 0;
}

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* data, unsigned requested,
                              int flags, const void* code) {
  (void)code;
  if (!(flags & ompt_parallel_team)) return;
  EXPECT(requested > 0, "a region of no threads");
  Region* region = &outermost;
  if (frame->exit_frame.ptr != NULL) {
    EXPECT(task->value > 0, "a region that is neither the initial task's nor inside another");
    region = calloc(1, sizeof *region);
    region->level = task->value + 1;
    inner++;
  }
  region->requested = requested > (unsigned)lent ? requested : (unsigned)lent;
  free(region->samples);
  region->samples = calloc(region->requested, sizeof *region->samples);
  data->ptr = region;
  regions++;
  if (lent && region == &outermost) omp_set_num_threads(lent);
}

static void on_parallel_end(ompt_data_t* data, ompt_data_t* task, int flags, const void* code) {
  (void)task, (void)code;
  if (!(flags & ompt_parallel_team)) return;
  Region* region = data->ptr;
  EXPECT(region != NULL && region->actual > 0, "a region ends whose threads have not begun");
  EXPECT(lent == 0 || region != &outermost || region->actual == (unsigned)lent, "%u threads, lent are %d",
         region->actual, lent);
  for (unsigned i = 0; i < region->actual; i++) {
    EXPECT(region->samples[i] != NULL, "thread %u of %u has not begun", i, region->actual);
    for (unsigned k = 0; k < i; k++) EXPECT(region->samples[k] != region->samples[i], "one thread is %u and %u", k, i);
  }
  if (region == &outermost) return;
  free(region->samples);
  free(region);
}

static void on_task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* task, int flags, int depends,
                           const void* code) {
  (void)frame, (void)depends, (void)code;
  if (!(flags & ompt_task_explicit)) return;
  task->value = parent->value;
  tasks++;
}

static void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  (void)prior, (void)next;
  if (status != ompt_task_complete && status != ompt_task_switch) return;
  EXPECT(sample == 1, "a task on a thread that has not begun");
  switches++;
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* data, ompt_data_t* task, unsigned actual,
                             unsigned index, int flags) {
  if (endpoint != ompt_scope_begin || data == NULL || data->ptr == NULL || !(flags & ompt_task_implicit)) return;
  Region* region = data->ptr;
  EXPECT(sample == 1, "an implicit task on a thread that has not begun");
  EXPECT(index < actual && actual <= region->requested, "thread %u of %u, requested %u", index, actual,
         region->requested);
  if (index == 0) region->actual = actual;
  task->value = region->level;
  region->samples[index] = &sample;
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* data,
                           ompt_data_t* task, const void* code) {
  (void)endpoint, (void)task, (void)code;
  if (data == NULL || data->ptr == NULL) return;
  EXPECT(sample == 1, "synchronisation %d on a thread that has not begun", (int)kind);
  syncs++;
}

static void model_starts(ompt_function_lookup_t lookup) {
  (void)lookup;
  lent = getenv("DLB_THREADS") != NULL ? atoi(getenv("DLB_THREADS")) : 0;
  HEAR_OF(thread_begin, sometimes);
  HEAR_OF(thread_end, sometimes);
  HEAR_OF(parallel_begin, sometimes);
  HEAR_OF(parallel_end, sometimes);
  HEAR_OF(task_create, sometimes);
  HEAR_OF(task_schedule, sometimes);
  HEAR_OF(implicit_task, sometimes);
  HEAR_OF(sync_region, sometimes);
  if (lent) omp_set_num_threads(1);
}

static void model_ends(void) {
  printf("dlb threads=%ld regions=%ld inner=%ld tasks=%ld switches=%ld syncs=%ld\n", threads, regions, inner, tasks,
         switches, syncs);
}
