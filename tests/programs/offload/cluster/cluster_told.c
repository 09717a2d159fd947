/* SPDX-License-Identifier: Apache-2.0
 *
 * An OMPT tool for the programs beside it: the events of their tasks and constructs make sense, also for tasks that are
 * submitted early to the device, which no thread runs. Each task begins after the ends of its predecessors and ends
 * once; on each thread one task follows the other; a construct lies within the life of its task, and its operations
 * within it; each kernel has a record, which follows the records of its predecessors. With CLUSTER_TOLD=plain the tool
 * has the callbacks of OpenMP 5.0, which do not say of which target task a construct is: then each construct is
 * reported by its task.
 *
 * Covers: ompt_callback_target, ompt_start_trace
 */
#define TOOL_ENDS
#include "../../tool.h"

#include <pthread.h>
#include <stdlib.h>

enum { kMost = 1 << 14, kSlack = 1000000 }; /* ns, of one node's clock against another's */

typedef enum { kNone, kCreated, kRunning, kLeft, kDetached, kEnded } State;

typedef struct {
  State state;
  int constructs;
  uint64_t kernel; /* its operation */
} task_t;

typedef struct {
  int is_open, operations; /* operations: that are open */
  uint64_t task;
} construct_t;

typedef struct {
  int is_open, records;
  uint64_t construct, begin, end;
} operation_t;

/* Under one lock, by their numbers, which are the tool's words in the runtime. */
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static task_t g_tasks[kMost];
static construct_t g_constructs[kMost];
static operation_t g_operations[kMost];
static struct {
  uint64_t before, behind;
} g_edges[kMost];
static uint64_t g_task_count, g_construct_count, g_operation_count, g_edge_count;
static int g_ahead, g_is_cluster, g_is_plain;
static __thread ompt_data_t* t_view; /* the task that the thread runs; NULL: not known */

static uint64_t next(uint64_t* count) {
  CHECK(*count + 1 < kMost);
  return ++*count;
}

/* NULL: not an explicit task. */
static task_t* task_of(const ompt_data_t* data) {
  return data != NULL && data->value != 0 ? &g_tasks[data->value] : NULL;
}

static void on_create(ompt_data_t* creator, const ompt_frame_t* frame, ompt_data_t* data, int flags, int depends,
                      const void* code) {
  (void)creator, (void)frame, (void)depends, (void)code;
  if ((flags & (ompt_task_initial | ompt_task_implicit)) != 0) return;
  pthread_mutex_lock(&g_lock);
  data->value = next(&g_task_count);
  g_tasks[data->value].state = kCreated;
  pthread_mutex_unlock(&g_lock);
}

static void on_dependence(ompt_data_t* before, ompt_data_t* behind) {
  pthread_mutex_lock(&g_lock);
  uint64_t edge = next(&g_edge_count);
  g_edges[edge].before = before->value, g_edges[edge].behind = behind->value;
  pthread_mutex_unlock(&g_lock);
}

static void on_implicit(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                        unsigned index, int flags) {
  (void)endpoint, (void)region, (void)task, (void)size, (void)index, (void)flags;
  t_view = NULL;
}

static void on_region_end(ompt_data_t* region, ompt_data_t* task, int flags, const void* code) {
  (void)region, (void)task, (void)flags, (void)code;
  t_view = NULL;
}

/* A thread that is in no team, and so in no task, cannot turn to a task: it only says that the task has ended. */
static void leave(task_t* task, ompt_task_status_t status) {
  int fulfils = status == ompt_task_late_fulfill, is_of_no_team = fulfils && t_view == NULL;
  if (!is_of_no_team || task->state != kCreated)
    CHECK_EQ(task->state, fulfils ? kDetached : status == ompt_taskwait_complete ? kCreated : kRunning);
  task->state = status == ompt_task_switch || status == ompt_task_yield ? kLeft
                : status == ompt_task_detach                            ? kDetached
                                                                        : kEnded;
}

static void enter(const ompt_data_t* data, task_t* task) {
  CHECK(task->state == kCreated || task->state == kLeft);
  for (uint64_t edge = 1; edge <= g_edge_count && task->state == kCreated; edge++)
    if (g_edges[edge].behind == data->value) CHECK_EQ(g_tasks[g_edges[edge].before].state, kEnded);
  task->state = kRunning;
}

static void on_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* behind) {
  pthread_mutex_lock(&g_lock);
  if (behind != NULL) {
    CHECK(t_view == NULL || t_view == prior);
    t_view = behind;
  }
  if (task_of(prior) != NULL && status != ompt_task_early_fulfill) leave(task_of(prior), status);
  if (task_of(behind) != NULL) enter(behind, task_of(behind));
  pthread_mutex_unlock(&g_lock);
}

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* creator,
                      ompt_data_t* target_task, ompt_data_t* target, const void* code) {
  CHECK(creator != NULL && code != NULL && device == 0);
  CHECK_EQ(target_task != NULL, kind >= ompt_target_nowait);
  pthread_mutex_lock(&g_lock);
  task_t* task = task_of(target_task);
  if (endpoint == ompt_scope_begin) {
    target->value = next(&g_construct_count);
    g_constructs[target->value] = (construct_t){1, 0, target_task != NULL ? target_task->value : 0};
    if (task != NULL) g_ahead += task->state == kCreated;
    CHECK(task == NULL || (task->state < kDetached && task->constructs++ == 0));
  } else {
    construct_t* construct = &g_constructs[target->value];
    CHECK(construct->is_open && construct->operations == 0);
    CHECK(task == NULL || (task->state != kEnded && construct->task == target_task->value));
    construct->is_open = 0;
  }
  pthread_mutex_unlock(&g_lock);
}

static void on_operation(ompt_scope_endpoint_t endpoint, ompt_data_t* target, ompt_id_t* number, int is_kernel) {
  pthread_mutex_lock(&g_lock);
  construct_t* construct = target != NULL ? &g_constructs[target->value] : NULL;
  CHECK(construct == NULL || construct->is_open);
  if (endpoint == ompt_scope_begin) {
    *number = next(&g_operation_count);
    g_operations[*number] = (operation_t){1, 0, target != NULL ? target->value : 0, 0, 0};
    if (is_kernel) g_tasks[construct->task].kernel = construct->task != 0 ? *number : 0;
  } else {
    CHECK(g_operations[*number].is_open && g_operations[*number].construct == (target != NULL ? target->value : 0));
    g_operations[*number].is_open = 0;
  }
  if (construct != NULL) construct->operations += endpoint == ompt_scope_begin ? 1 : -1;
  pthread_mutex_unlock(&g_lock);
}

static void on_data(ompt_scope_endpoint_t endpoint, ompt_data_t* target_task, ompt_data_t* target, ompt_id_t* number,
                    ompt_target_data_op_t kind, void* from, int from_device, void* to, int to_device, size_t bytes,
                    const void* code) {
  (void)target_task, (void)kind, (void)from, (void)from_device, (void)to, (void)to_device, (void)bytes, (void)code;
  on_operation(endpoint, target, number, 0);
}

static void on_submit(ompt_scope_endpoint_t endpoint, ompt_data_t* target, ompt_id_t* number, unsigned teams) {
  (void)teams;
  CHECK(target != NULL);
  on_operation(endpoint, target, number, 1);
}

/* The thread runs the target task, if there is one. */
static void on_plain_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* creator,
                            ompt_id_t target, const void* code) {
  (void)device, (void)creator, (void)target, (void)code;
  pthread_mutex_lock(&g_lock);
  if (endpoint == ompt_scope_begin && kind >= ompt_target_nowait)
    CHECK(task_of(t_view) != NULL && task_of(t_view)->state == kRunning && task_of(t_view)->constructs++ == 0);
  pthread_mutex_unlock(&g_lock);
}

/* Records. */

static ompt_get_record_type_t get_type;
static ompt_get_record_ompt_t get_record;
static ompt_advance_buffer_cursor_t advance;
static ompt_device_t* g_devices[64];

static void on_request(int device, ompt_buffer_t** buffer, size_t* bytes) {
  (void)device;
  *bytes = 4096;
  *buffer = malloc(*bytes);
}

static void take_record(const ompt_record_ompt_t* record) {
  int is_kernel = record->type == ompt_callback_target_submit;
  uint64_t number = is_kernel ? record->record.target_kernel.host_op_id : record->record.target_data_op.host_op_id;
  if (number == 0) /* what nodes send each other is no operation of the program's */
    return;
  CHECK(number <= g_operation_count);
  operation_t* operation = &g_operations[number];
  operation->begin = record->time;
  operation->end = is_kernel ? record->record.target_kernel.end_time : record->record.target_data_op.end_time;
  CHECK(operation->begin != 0 && operation->begin <= operation->end && operation->records++ == 0);
  CHECK_EQ(record->target_id, operation->construct);
}

static void on_complete(int device, ompt_buffer_t* buffer, size_t bytes, ompt_buffer_cursor_t cursor, int owned) {
  pthread_mutex_lock(&g_lock);
  do
    if (get_type(buffer, cursor) == ompt_record_ompt) take_record(get_record(buffer, cursor));
  while (advance(g_devices[device], buffer, bytes, cursor, &cursor));
  pthread_mutex_unlock(&g_lock);
  if (owned) free(buffer);
}

static void on_initialize(int device, const char* type, ompt_device_t* handle, ompt_function_lookup_t lookup,
                          const char* documentation) {
  (void)documentation;
  CHECK(device >= 0 && device < 64);
  g_is_cluster = g_is_cluster || strcmp(type, "cluster") == 0;
  g_devices[device] = handle;
  get_type = (ompt_get_record_type_t)lookup("ompt_get_record_type");
  get_record = (ompt_get_record_ompt_t)lookup("ompt_get_record_ompt");
  advance = (ompt_advance_buffer_cursor_t)lookup("ompt_advance_buffer_cursor");
  CHECK_EQ(((ompt_start_trace_t)lookup("ompt_start_trace"))(handle, on_request, on_complete), 1);
}

static void tool_callbacks(ompt_set_callback_t set) {
  const char* kind = getenv("CLUSTER_TOLD");
  g_is_plain = kind != NULL && strcmp(kind, "plain") == 0;
  set(ompt_callback_task_create, (ompt_callback_t)on_create);
  set(ompt_callback_task_schedule, (ompt_callback_t)on_schedule);
  set(ompt_callback_task_dependence, (ompt_callback_t)on_dependence);
  set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit);
  set(ompt_callback_parallel_end, (ompt_callback_t)on_region_end);
  if (g_is_plain) {
    set(ompt_callback_target, (ompt_callback_t)on_plain_target);
    return;
  }
  set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
  set(ompt_callback_target_emi, (ompt_callback_t)on_target);
  set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_data);
  set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit);
}

/* Kernels of cancelled tasks have none, as they need not run. */
static void check_records(void) {
  int cancels = getenv("OMP_CANCELLATION") != NULL;
  for (uint64_t i = 1; i <= g_task_count; i++)
    CHECK(g_tasks[i].kernel == 0 || g_operations[g_tasks[i].kernel].records == 1 || cancels);
  for (uint64_t edge = 1; edge <= g_edge_count; edge++) {
    const operation_t *before = &g_operations[g_tasks[g_edges[edge].before].kernel],
                      *behind = &g_operations[g_tasks[g_edges[edge].behind].kernel];
    if (before->records != 0 && behind->records != 0) CHECK(behind->begin + kSlack >= before->end);
  }
}

static void tool_ends(void) {
  for (uint64_t i = 1; i <= g_task_count; i++) CHECK_EQ(g_tasks[i].state, kEnded);
  for (uint64_t i = 1; i <= g_construct_count; i++) CHECK(!g_constructs[i].is_open);
  check_records();
  CHECK(!g_is_cluster || g_ahead > 0);
}
