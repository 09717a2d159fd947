// SPDX-License-Identifier: Apache-2.0
//
// The OMPT side of the recorder: ompt_start_tool, and one callback per event, each of which packs its arguments into a
// record of the calling thread. It works on any runtime with OMPT (OpenMP 5.0 and later); a callback that a runtime
// does not offer is left out.
//
// Who runs where is followed by the thread that reports it: task_schedule, implicit_task and parallel_end move the
// stream's current task. A task's or region's id lives in the data word that OMPT keeps for the tool.
#include <omp-tools.h>

#include "recorder.hpp"
#include "stream.hpp"

namespace marline::trace {
namespace {

// Marline's own entry point: label and colour of the task that is being created. Other runtimes do not have it.
using TaskInfo = int (*)(const char **label, uint32_t *color);
TaskInfo task_info;

u64 address(const void *pointer) { return reinterpret_cast<u64>(pointer); }

// The id in the tool's data word. A task that the runtime never announced gets its creation record here, so that every
// task that is scheduled has been created.
u64 task_id(Stream &stream, ompt_data_t *data) {
  if (data == nullptr) {
    return stream.current_task();
  }
  if (__builtin_expect(data->value == 0, 0)) {
    data->value = stream.new_id();
    stream.emit(data->value, event::task_create{.code = 0, .parent = stream.current_task(), .flags = 0});
  }
  return data->value;
}

void on_thread_begin(ompt_thread_t type, ompt_data_t *) {
  if (Stream *stream = Stream::mine()) {
    stream->emit(stream->base_id(), event::thread_begin{.type = static_cast<u64>(type)});
  }
}

void on_thread_end(ompt_data_t *) {
  if (Stream *stream = Stream::mine()) {
    stream->emit(stream->base_id(), event::thread_end{});
    stream->set_current_task(stream->base_id());
  }
}

void on_parallel_begin(ompt_data_t *encountering, const ompt_frame_t *, ompt_data_t *parallel, unsigned requested, int,
                       const void *code) {
  if (Stream *stream = Stream::mine()) {
    parallel->value = stream->new_id();
    stream->emit(task_id(*stream, encountering),
                 event::parallel_begin{.code = address(code), .parallel = parallel->value, .size = requested});
  }
}

void on_parallel_end(ompt_data_t *parallel, ompt_data_t *encountering, int, const void *) {
  if (Stream *stream = Stream::mine()) {
    const u64 task = task_id(*stream, encountering);
    stream->emit(task, event::parallel_end{.parallel = parallel->value});
    stream->set_current_task(task);
  }
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned size,
                      unsigned index, int flags) {
  Stream *stream = Stream::mine();
  if (stream == nullptr) {
    return;
  }
  if (endpoint == ompt_scope_begin) {
    task->value = stream->new_id();
    stream->emit(task->value, event::implicit_begin{.parallel = parallel == nullptr ? 0 : parallel->value,
                                                    .size = size,
                                                    .index = index,
                                                    .flags = static_cast<uint32_t>(flags)});
    stream->set_current_task(task->value);
  } else {
    stream->emit(task->value, event::implicit_end{.flags = static_cast<uint32_t>(flags)});
    stream->set_current_task(stream->base_id());
  }
}

void record_label(Stream &stream, u64 task) {
  const char *label = nullptr;
  uint32_t color = 0;
  if (task_info(&label, &color) != 0) {
    const u64 text = label == nullptr ? 0 : stream.intern(label);
    stream.emit(task, event::task_label{.text = text, .color = color});
  }
}

void on_task_create(ompt_data_t *encountering, const ompt_frame_t *, ompt_data_t *task, int flags, int,
                    const void *code) {
  Stream *stream = Stream::mine();
  if (stream == nullptr) {
    return;
  }
  const u64 parent = encountering == nullptr ? stream->current_task() : task_id(*stream, encountering);
  task->value = stream->new_id();
  stream->emit(task->value,
               event::task_create{.code = address(code), .parent = parent, .flags = pack_task_flags(flags)});
  if (task_info != nullptr) {
    record_label(*stream, task->value);
  }
}

void on_dependences(ompt_data_t *task, const ompt_dependence_t *dependences, int count) {
  Stream *stream = Stream::mine();
  if (stream == nullptr) {
    return;
  }
  const u64 id = task_id(*stream, task);
  for (int i = 0; i < count; ++i) {
    const ompt_dependence_t &dependence = dependences[i];
    stream->emit(id, event::dependence{.address = address(dependence.variable.ptr),
                                       .type = static_cast<u64>(dependence.dependence_type)});
  }
}

// Where a thread goes that is given no next task: outside of any task if it left the prior one, and nowhere if the
// event is only about that task's state (a fulfilment, the end of a taskwait with dependences).
u64 without_next(const Stream &stream, u64 prior, ompt_task_status_t status) {
  const bool leaves = status == ompt_task_complete || status == ompt_task_yield || status == ompt_task_cancel ||
                      status == ompt_task_detach || status == ompt_task_switch;
  return leaves && prior == stream.current_task() ? stream.base_id() : 0;
}

void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next) {
  if (Stream *stream = Stream::mine()) {
    const u64 from = task_id(*stream, prior);
    const u64 to = next == nullptr ? without_next(*stream, from, status) : task_id(*stream, next);
    stream->emit(from, event::task_schedule{.next = to, .status = static_cast<u64>(status)});
    if (to != 0) {
      stream->set_current_task(to);
    }
  }
}

template <class Begin, class End>
void record_scope(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *task, const void *code) {
  Stream *stream = Stream::mine();
  if (stream == nullptr) {
    return;
  }
  const u64 id = task_id(*stream, task);
  if (endpoint == ompt_scope_begin) {
    stream->emit(id, Begin{.code = address(code), .kind = static_cast<u64>(kind)});
  } else {
    stream->emit(id, End{.code = address(code), .kind = static_cast<u64>(kind)});
  }
}

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *, ompt_data_t *task,
                    const void *code) {
  record_scope<event::sync_begin, event::sync_end>(kind, endpoint, task, code);
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *, ompt_data_t *task,
                         const void *code) {
  record_scope<event::wait_begin, event::wait_end>(kind, endpoint, task, code);
}

template <class Event>
void record_mutex(ompt_mutex_t kind, ompt_wait_id_t wait_id) {
  if (Stream *stream = Stream::mine()) {
    stream->emit(stream->current_task(), Event{.wait_id = wait_id, .kind = static_cast<u64>(kind)});
  }
}

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t wait_id, const void *) {
  record_mutex<event::mutex_acquire>(kind, wait_id);
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *) {
  record_mutex<event::mutex_acquired>(kind, wait_id);
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *) {
  record_mutex<event::mutex_released>(kind, wait_id);
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t *) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  task_info = reinterpret_cast<TaskInfo>(lookup("marline_task_info"));
  const struct {
    ompt_callbacks_t which;
    ompt_callback_t function;
  } callbacks[] = {
      {ompt_callback_thread_begin, reinterpret_cast<ompt_callback_t>(on_thread_begin)},
      {ompt_callback_thread_end, reinterpret_cast<ompt_callback_t>(on_thread_end)},
      {ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin)},
      {ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end)},
      {ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task)},
      {ompt_callback_task_create, reinterpret_cast<ompt_callback_t>(on_task_create)},
      {ompt_callback_dependences, reinterpret_cast<ompt_callback_t>(on_dependences)},
      {ompt_callback_task_schedule, reinterpret_cast<ompt_callback_t>(on_task_schedule)},
      {ompt_callback_sync_region, reinterpret_cast<ompt_callback_t>(on_sync_region)},
      {ompt_callback_sync_region_wait, reinterpret_cast<ompt_callback_t>(on_sync_region_wait)},
      {ompt_callback_mutex_acquire, reinterpret_cast<ompt_callback_t>(on_mutex_acquire)},
      {ompt_callback_mutex_acquired, reinterpret_cast<ompt_callback_t>(on_mutex_acquired)},
      {ompt_callback_mutex_released, reinterpret_cast<ompt_callback_t>(on_mutex_released)},
  };
  for (const auto &callback : callbacks) {
    set(callback.which, callback.function);
  }
  return 1;
}

void finalize(ompt_data_t *) { write_metadata(); }

}  // namespace
}  // namespace marline::trace

// OpenMP 5.1, 4.2.1: no result means that there is nothing to record, and the runtime then runs as if there were no
// tool.
extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version,
                                                                                         const char *runtime_version) {
  static ompt_start_tool_result_t result = {marline::trace::initialize, marline::trace::finalize, {}};
  marline::trace::set_runtime(runtime_version, omp_version);
  return marline::trace::start_recording() ? &result : nullptr;
}
