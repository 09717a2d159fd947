/* SPDX-License-Identifier: Apache-2.0
 *
 * A tool that is one of several: compiled with -DNAME and, if it hands events on, with LLVM's ompt-multiplex.h in front
 * (-DMULTIPLEX). It keeps words of its own in the data of threads, regions and tasks, and checks at each event that
 * they are still there. At the end it says what it has seen.
 */
#ifdef MULTIPLEX
#define CLIENT_TOOL_LIBRARIES_VAR "CLIENT_TOOL_LIBRARIES"
#include <ompt-multiplex.h>
#else
#include <omp-tools.h>
#endif

#include <stdio.h>

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

static const uint64_t kMark = sizeof STRING(NAME) * 1000;
static int threads, regions, implicit_tasks, tasks, completions, controls, lost;

static void mark(ompt_data_t* data, int* count) {
  if (data->value != 0) __sync_fetch_and_add(&lost, 1);
  data->value = kMark;
  __sync_fetch_and_add(count, 1);
}

static void check(const ompt_data_t* data) {
  if (data != NULL && data->value != kMark) __sync_fetch_and_add(&lost, 1);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t* data) {
  (void)type;
  mark(data, &threads);
}

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* data, unsigned size, int flags,
                              const void* codeptr) {
  (void)frame, (void)size, (void)flags, (void)codeptr;
  check(task);
  mark(data, &regions);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  (void)size, (void)index;
  if (endpoint != ompt_scope_begin) {
    check(region);
    check(task);
    if ((flags & ompt_task_initial) != 0 && region == NULL) ++lost;
    return;
  }
  if ((flags & ompt_task_initial) != 0) {
    region->value = kMark;
  } else {
    check(region);
  }
  mark(task, &implicit_tasks);
}

static void on_task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* task, int flags, int dependent,
                           const void* codeptr) {
  (void)frame, (void)flags, (void)dependent, (void)codeptr;
  check(parent);
  mark(task, &tasks);
}

static void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  check(prior);
  check(next);
  if (status == ompt_task_complete) __sync_fetch_and_add(&completions, 1);
}

static int on_control_tool(uint64_t command, uint64_t modifier, void* argument, const void* codeptr) {
  (void)command, (void)modifier, (void)argument, (void)codeptr;
  return ++controls > 0 ? 0 : -1;
}

static int tool_initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* data) {
  (void)device;
  data->value = kMark;
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  set(ompt_callback_thread_begin, (ompt_callback_t)on_thread_begin);
  set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
  set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
  set(ompt_callback_task_create, (ompt_callback_t)on_task_create);
  set(ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule);
  set(ompt_callback_control_tool, (ompt_callback_t)on_control_tool);
  return 1;
}

static void tool_finalize(ompt_data_t* data) {
  check(data);
  printf("%s: threads=%d regions=%d implicit=%d tasks=%d completions=%d controls=%d lost=%d\n", STRING(NAME), threads,
         regions, implicit_tasks, tasks, completions, controls, lost);
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  (void)version, (void)runtime;
  static ompt_start_tool_result_t result = {tool_initialize, tool_finalize, {0}};
  return &result;
}
