// SPDX-License-Identifier: Apache-2.0
//
// The callbacks that the recorder registers: each packs its arguments into a record of the calling thread. Their types
// are defined in ompt.h. If a thread has no stream, or recording is off, they record nothing.
#ifndef MARLINE_TRACE_OMPT_CALLBACKS_HPP
#define MARLINE_TRACE_OMPT_CALLBACKS_HPP

#include "../common/ompt.h"
#include "base/stream.hpp"

namespace marline::trace {

inline u64 address(const void* pointer) { return reinterpret_cast<u64>(pointer); }

// Some runtimes do not pass the task at a region's end.
inline u64 task_or_current(Stream& stream, ompt_data_t* task) {
  return task == nullptr ? stream.current_task() : task_id(stream, task->value);
}

// Marline's own query: label and colour of the task that is being created. Null with other runtimes; the recorder then
// keeps label and colour itself (program.cpp).
using TaskInfo = int (*)(const char** label, uint32_t* color);
extern TaskInfo task_info;
// A word of the runtime or of the recorder, which is 0 as long as no task has been given a name.
extern const uint32_t* names_used;

// Threads, regions and tasks: ompt/tasks.cpp. They follow which task runs on which thread, also while recording is off.
void on_thread_begin(ompt_thread_t type, ompt_data_t* thread);
void on_thread_end(ompt_data_t* thread);
void on_parallel_begin(ompt_data_t* encountering, const ompt_frame_t*, ompt_data_t* parallel, unsigned requested, int,
                       const void* code);
void on_parallel_end(ompt_data_t* parallel, ompt_data_t* encountering, int, const void* code);
void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned index, int flags);
void on_task_create(ompt_data_t* encountering, const ompt_frame_t*, ompt_data_t* task, int flags, int,
                    const void* code);
void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next);
void on_task_created(ompt_data_t task);
void on_task_ready(ompt_data_t* task);
struct GraphIteration {  // as Marline passes it (runtime/tool/tool.hpp)
  uint64_t graph;
  uint64_t iteration;
  uint32_t unfinished;
  uint32_t how;
};
void on_iteration(ompt_data_t* producer, const GraphIteration* iteration);
void on_dependences(ompt_data_t* task, const ompt_dependence_t* dependences, int count);

// Waiting and sharing work: ompt/waits.cpp.
void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task,
                    const void* code);
void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task,
                         const void* code);
void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task, uint64_t count,
             const void* code);
void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t wait_id, const void* code);
void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void* code);
void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void* code);

// Registers the callbacks of a recorder that keeps sums, in place of all of these: ompt/sums.cpp.
void set_sums(ompt_set_callback_t set);

// If threads count, registers callbacks in the place of some above: ompt/counted.cpp. Called after these are set.
void count_at_switches(ompt_set_callback_t set);

// Devices: ompt/devices.cpp.
void on_device_initialize(int number, const char* type, ompt_device_t* handle, ompt_function_lookup_t lookup,
                          const char* documentation);
void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* task,
               ompt_data_t* target_task, ompt_data_t* target, const void* code);
// Turns what devices have done so far into records.
void flush_devices();

}  // namespace marline::trace

#endif
