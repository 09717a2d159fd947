/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder of accesses as an OMPT tool: each event of a task ends its segment and becomes a record
 * (common/accesses_format.h). The word that OMPT keeps for tools in a task points to its TaskRecord. A record is used
 * by the thread that runs the task.
 */
#include "../../common/ompt.h"
#include "../ignored.h"
#include "current.h"
#include "devices.h"
#include "memory.h"
#include "writer.h"

#include <link.h>
#include <marline/marline.h>
#include <pthread.h>
#include <stdatomic.h>

_Thread_local TaskRecord* current_task __attribute__((tls_model("initial-exec")));
static _Thread_local int inside __attribute__((tls_model("initial-exec")));
static _Thread_local bool is_thread_known __attribute__((tls_model("initial-exec")));

static _Atomic bool is_recording; /* written at the process's start and end, read by all */
static _Atomic uint64_t last_task, last_region;
static ompt_get_task_info_t task_info;
static int (*task_stack)(void** low, void** high);
static int (*task_name)(const char** label, uint32_t* color);

bool current_is_recording(void) { return atomic_load_explicit(&is_recording, memory_order_relaxed); }

bool current_is_programs(const void* caller) {
  if (!current_is_recording() || inside != 0) return false;
  ++inside; /* is_ignored may allocate and copy */
  const bool answer = !is_ignored(caller);
  --inside;
  return answer;
}

uint64_t current_new_number(void) { return atomic_fetch_add_explicit(&last_task, 1, memory_order_relaxed) + 1; }

static TaskRecord* new_task(ompt_data_t* data) {
  TaskRecord* task = memory_get(1, sizeof *task);
  task->number = current_new_number();
  data->ptr = task;
  return task;
}

TaskRecord* current_record(ompt_data_t* data) {
  if (data == NULL) return NULL;
  if (data->ptr == NULL) PUT(kImplicit, new_task(data)->number, 0, 0);
  return data->ptr;
}

static void end_segment(TaskRecord* task) {
  if (task != NULL) granules_write(&task->granules, task->number);
}

static int note_thread_local(struct dl_phdr_info* info, size_t size, void* none) {
  (void)size, (void)none;
  if (info->dlpi_tls_data == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
    const uint64_t low = (uintptr_t)info->dlpi_tls_data;
    PUT(kPrivate, low, low + info->dlpi_phdr[i].p_memsz);
  }
  return 0;
}

/* The task's frames lie below the frame of the runtime's function that calls its code. */
static void note_stack(TaskRecord* task, const ompt_frame_t* frame) {
  void *low = NULL, *high = NULL;
  if (frame == NULL || frame->exit_frame.ptr == NULL || (frame->exit_frame_flags & 1) != 0) return; /* the program's */
  if (task_stack(&low, &high) == 0) {
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
  }
  if ((char*)frame->exit_frame.ptr <= (char*)low) return;
  task->stack_low = (uintptr_t)low;
  task->stack_high = (uintptr_t)frame->exit_frame.ptr;
  PUT(kStack, task->number, task->stack_low, task->stack_high);
}

TaskRecord* current_find(void) {
  if (inside != 0 || task_info == NULL || !current_is_recording()) return NULL;
  ++inside;
  ompt_data_t* data = NULL;
  ompt_frame_t* frame = NULL;
  int flags = 0;
  TaskRecord* task = task_info(0, &flags, &data, &frame, NULL, NULL) != 0 ? current_record(data) : NULL;
  if (task != NULL && !task->is_begun) {
    task->is_begun = true;
    if ((flags & ompt_task_initial) == 0 || task->is_of_league) note_stack(task, frame);
  }
  if (task != NULL && !is_thread_known) {
    is_thread_known = true;
    dl_iterate_phdr(note_thread_local, NULL);
  }
  --inside;
  return current_task = task;
}

uint64_t current_number(void) {
  const TaskRecord* task = current();
  return task != NULL ? task->number : 0;
}

void current_end_segment(void) { end_segment(current()); }

/* A task's code is over. */
static void end_task(ompt_data_t* data, AccessRecord kind) {
  TaskRecord* task = data->ptr;
  if (task == NULL) return;
  end_segment(task);
  PUT(kind, task->number);
  if (task->stack_high != 0) PUT(kReused, task->stack_low, task->stack_high);
  granules_free(&task->granules);
}

static void forget_task(ompt_data_t* data) {
  memory_free(data->ptr);
  data->ptr = NULL;
}

static void on_task_create(ompt_data_t* encountering, const ompt_frame_t* frame, ompt_data_t* data, int flags,
                           int has_dependences, const void* code) {
  (void)frame, (void)has_dependences;
  if ((flags & ompt_task_initial) != 0) {
    current_record(data);
    return;
  }
  const TaskRecord* parent = current_record(encountering);
  end_segment(encountering != NULL ? encountering->ptr : NULL);
  const char* label = NULL;
  uint32_t color;
  if (task_name == NULL || task_name(&label, &color) == 0) label = NULL;
  const uint64_t text = writer_text(label);
  PUT(kTask, new_task(data)->number, parent != NULL ? parent->number : 0, (unsigned)flags, (uintptr_t)code, text);
  current_task = NULL;
}

static void on_dependences(ompt_data_t* data, const ompt_dependence_t* list, int count) {
  const TaskRecord* task = data->ptr;
  if (task == NULL || count <= 0) return;
  const unsigned words = 1 + 2 * (unsigned)count;
  uint64_t* values = memory_get(words, sizeof *values);
  values[0] = task->number;
  for (int i = 0; i < count; ++i) {
    values[1 + 2 * i] = list[i].variable.value;
    values[2 + 2 * i] = list[i].dependence_type;
  }
  writer_put(kDependences, words, values);
  memory_free(values);
}

static void on_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  enum { kTaskwaitComplete = 8 };
  TaskRecord* task = prior != NULL ? prior->ptr : NULL;
  if (task != NULL && (status == ompt_task_late_fulfill || status == ompt_task_early_fulfill)) {
    TaskRecord* by = current_task != NULL ? current_task : current_find();
    end_segment(by);
    PUT(kFulfilled, task->number, by != NULL ? by->number : 0);
  }
  current_task = NULL;
  if (task != NULL && status == ompt_task_late_fulfill) {
    forget_task(prior);
  } else if (task != NULL && status == ompt_task_detach) {
    PUT(kDetached, task->number);
    end_task(prior, kEnd);
  } else if (task != NULL &&
             (status == ompt_task_complete || status == ompt_task_cancel || (int)status == kTaskwaitComplete)) {
    end_task(prior, kEnd);
    forget_task(prior);
  } else if (status != ompt_task_early_fulfill) {
    end_segment(task);
  }
  if (next == NULL || next == prior || next->ptr == NULL) return;
  TaskRecord* other = next->ptr;
  if (!other->is_begun && other->granules.slots == NULL) PUT(kBegin, other->number);
}

static void on_parallel_begin(ompt_data_t* encountering, const ompt_frame_t* frame, ompt_data_t* region,
                              unsigned threads, int flags, const void* code) {
  (void)frame, (void)threads, (void)flags;
  const TaskRecord* task = current_record(encountering);
  end_segment(encountering != NULL ? encountering->ptr : NULL);
  region->value = atomic_fetch_add_explicit(&last_region, 1, memory_order_relaxed) + 1;
  PUT(kParallel, region->value, task != NULL ? task->number : 0, (uintptr_t)code);
  current_task = NULL;
}

static void on_parallel_end(ompt_data_t* region, ompt_data_t* encountering, int flags, const void* code) {
  (void)flags, (void)code;
  const TaskRecord* task = current_record(encountering);
  PUT(kParallelEnd, region->value, task != NULL ? task->number : 0);
  current_task = NULL;
}

/* A target region that runs on the host has an initial task there. It counts as a part of the task around it, with a
 * taskgroup for the barrier at its end. The initial task of a program has no task around it. */
static TaskRecord* task_around(void) {
  ompt_data_t* data = NULL;
  return task_info != NULL && task_info(1, NULL, &data, NULL, NULL, NULL) != 0 ? data->ptr : NULL;
}

static bool switch_region(ompt_scope_endpoint_t endpoint, ompt_data_t* data) {
  TaskRecord* task = task_around();
  const bool begins = endpoint == ompt_scope_begin;
  if (task == NULL || data->ptr != (begins ? NULL : task)) return false;
  end_segment(task);
  task->regions += begins ? 1 : -1;
  data->ptr = begins ? task : NULL;
  PUT(begins ? kWaitBegin : kWaitEnd, task->number, ompt_sync_region_taskgroup);
  return true;
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* data, unsigned threads,
                             unsigned index, int flags) {
  (void)threads;
  if (data == NULL) return;
  const uint64_t number = region != NULL ? region->value : 0; /* 0: initial, and not a team of a league */
  if ((flags & ompt_task_initial) != 0 && number == 0 && switch_region(endpoint, data)) {
    current_task = NULL;
    return;
  }
  if (endpoint == ompt_scope_begin) {
    if (data->ptr == NULL || number != 0) {
      TaskRecord* task = new_task(data);
      task->is_of_league = number != 0 && (flags & ompt_task_initial) != 0;
      PUT(kImplicit, task->number, number, index);
    }
  } else if (data->ptr != NULL) {
    end_task(data, kImplicitEnd);
    forget_task(data);
  }
  current_task = NULL;
}

static void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* data,
                    const void* code) {
  (void)region, (void)code;
  TaskRecord* task = data != NULL ? current_record(data) : NULL;
  if (task == NULL) return;
  const bool is_barrier = kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup;
  if (is_barrier && task->regions != 0) return; /* of a target region's own team */
  end_segment(task);
  PUT(endpoint == ompt_scope_begin ? kWaitBegin : kWaitEnd, task->number, kind);
  current_task = NULL;
}

static void on_mutex(AccessRecord kind, ompt_wait_id_t mutex) {
  TaskRecord* task = current();
  if (task == NULL) return;
  end_segment(task);
  PUT(kind, task->number, mutex);
}

static void on_acquired(ompt_mutex_t kind, ompt_wait_id_t mutex, const void* code) {
  (void)kind, (void)code;
  on_mutex(kAcquired, mutex);
}

static void on_released(ompt_mutex_t kind, ompt_wait_id_t mutex, const void* code) {
  (void)kind, (void)code;
  on_mutex(kReleased, mutex);
}

void current_acquired(uint64_t mutex) { on_mutex(kAcquired, mutex); }
void current_released(uint64_t mutex) { on_mutex(kReleased, mutex); }

/* The combination of a reduction, which the runtime does under its own lock. */
static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region,
                         ompt_data_t* data, const void* code) {
  (void)kind, (void)region, (void)data, (void)code;
  on_mutex(endpoint == ompt_scope_begin ? kAcquired : kReleased, 1);
}

static void on_suspend(void) { current_task = NULL; }

/* A thread's copy of a task reduction's variable: the tasks that the thread runs use it in turns. */
static void on_copies(const void* memory, size_t bytes) { PUT(kPrivate, (uintptr_t)memory, (uintptr_t)memory + bytes); }

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* tool) {
  (void)device, (void)tool;
  enum { kReduction = 31 };
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  void (*observe)(marline_suspend_fn) = (void (*)(marline_suspend_fn))lookup("marline_suspend_observe");
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  task_stack = (int (*)(void**, void**))lookup("marline_task_stack");
  task_name = (int (*)(const char**, uint32_t*))lookup("marline_task_info");
  if (observe == NULL || task_stack == NULL) return 0; /* not Marline */
  observe(on_suspend);
  void (*observe_copies)(void (*)(const void*, size_t)) =
      (void (*)(void (*)(const void*, size_t)))lookup("marline_copies_observe");
  if (observe_copies != NULL) observe_copies(on_copies);
  set(ompt_callback_task_create, (ompt_callback_t)on_task_create);
  set(ompt_callback_dependences, (ompt_callback_t)on_dependences);
  set(ompt_callback_task_schedule, (ompt_callback_t)on_schedule);
  set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
  set(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
  set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
  set(ompt_callback_sync_region, (ompt_callback_t)on_wait);
  set(ompt_callback_mutex_acquired, (ompt_callback_t)on_acquired);
  set(ompt_callback_mutex_released, (ompt_callback_t)on_released);
  set((ompt_callbacks_t)kReduction, (ompt_callback_t)on_reduction);
  devices_begin(set, task_info);
  return 1;
}

static void finalize(ompt_data_t* tool) {
  (void)tool;
  TaskRecord* task = current();
  end_segment(task);
  atomic_store(&is_recording, false);
  current_task = NULL;
  writer_close();
}

__attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned omp_version,
                                                                                 const char* runtime_version) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)omp_version, (void)runtime_version;
  return current_is_recording() ? &result : NULL;
}

/* Blocks are recorded from here on, for OpenMP may start late. */
__attribute__((constructor)) static void open_record(void) { atomic_store(&is_recording, writer_open()); }
