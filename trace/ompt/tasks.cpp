// SPDX-License-Identifier: Apache-2.0
//
// OMPT callbacks of threads, regions and tasks. Each thread keeps track of the task that it runs: task_schedule,
// implicit_task and parallel_end change the stream's current task. While recording is off these three still do so,
// without records. Tasks that begin while it is off are announced by the first later event that names them
// (base/stream.hpp).
#include "ompt/callbacks.hpp"

#include "usage/memory.hpp"

namespace marline::trace {

TaskInfo task_info;
const uint32_t* names_used = &Stream::names_kept;

namespace {

bool leaves(ompt_task_status_t status) {
  return status == ompt_task_complete || status == ompt_task_yield || status == ompt_task_cancel ||
         status == ompt_task_detach || status == ompt_task_switch;
}

// Where a thread goes if it is given no next task: outside of any task if it left the prior one, and nowhere (0) if the
// event is only about that task's state (a fulfilment, the end of a taskwait with dependences).
u64 without_next(const Stream& stream, u64 prior, ompt_task_status_t status) {
  return leaves(status) && prior == stream.current_task() ? stream.base_id() : 0;
}

// Records label and colour of the task that is being created, if it has any: from the runtime, if the runtime keeps
// them.
__attribute__((noinline)) void record_name(Stream& stream, u64 task) {
  TaskName name = stream.take_next_name();
  const char* label = nullptr;
  uint32_t color = 0;
  if (task_info != nullptr && task_info(&label, &color) != 0) {
    name = {.label = label, .color = color};
  }
  if (name.label != nullptr || name.color != 0) {
    const u64 time = read_cycles();
    const u64 text = name.label == nullptr ? 0 : stream.intern(name.label);
    stream.emit_at(time, task, event::task_label{.text = text, .color = name.color});
  }
}

// The callbacks while recording is off -------------------------------------------------------------------------------

void follow_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  Stream* stream = Stream::mine_even_off();
  if (stream == nullptr) {
    return;
  }
  if (next != nullptr) {
    stream->follow_off(&next->value);
  } else if (prior != nullptr && leaves(status) && stream->runs(&prior->value)) {
    stream->follow_off(nullptr);
  }
}

void follow_implicit(ompt_scope_endpoint_t endpoint, ompt_data_t* task, unsigned index) {
  Stream* stream = Stream::mine_even_off();
  if (stream == nullptr) {
    return;
  }
  if (endpoint == ompt_scope_begin) {
    task->value = unannounced_implicit(index);
    stream->follow_off(&task->value);
  } else {
    stream->follow_off(nullptr);
  }
}

// Handles the rare cases: a null prior or next, a task that is not yet announced, recording off. See on_task_schedule.
__attribute__((noinline)) void schedule_slowly(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  Stream* stream = Stream::mine();
  if (stream == nullptr) {
    follow_schedule(prior, status, next);
    return;
  }
  const u64 from = task_or_current(*stream, prior);
  const u64 to = next == nullptr ? without_next(*stream, from, status) : task_id(*stream, next->value);
  if (to != 0) {
    stream->set_current_task(to);
  }
  stream->emit(from, event::task_schedule{.next = to, .status = static_cast<u64>(status)});
}

}  // namespace

void on_thread_begin(ompt_thread_t type, ompt_data_t*) {
  if (Stream* stream = Stream::mine_even_off()) {
    stream->emit(stream->base_id(), event::thread_begin{.type = static_cast<u64>(type)});
  }
}

void on_thread_end(ompt_data_t*) {
  if (Stream* stream = Stream::mine_even_off()) {
    stream->emit(stream->base_id(), event::thread_end{});
    stream->follow_off(nullptr);
  }
}

void on_parallel_begin(ompt_data_t* encountering, const ompt_frame_t*, ompt_data_t* parallel, unsigned requested, int,
                       const void* code) {
  if (Stream* stream = Stream::mine()) {
    parallel->value = stream->new_id();
    stream->emit(
        task_or_current(*stream, encountering),
        event::parallel_begin{.code = address(code), .parallel = parallel->value, .size = saturated(requested, 16)});
  }
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t* encountering, int, const void*) {
  if (Stream* stream = Stream::mine()) {
    const u64 task = task_or_current(*stream, encountering);
    stream->emit(task, event::parallel_end{.parallel = parallel->value});
    stream->set_current_task(task);
    record_memory_in_turn(*stream);
  } else if (Stream* off = encountering == nullptr ? nullptr : Stream::mine_even_off()) {
    off->follow_off(&encountering->value);
  }
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned index, int flags) {
  Stream* stream = Stream::mine();
  if (stream == nullptr) {
    follow_implicit(endpoint, task, index);
  } else if (endpoint == ompt_scope_begin) {
    task->value = stream->new_id();
    stream->emit(task->value, event::implicit_begin{.parallel = parallel == nullptr ? 0 : parallel->value,
                                                    .size = saturated(size, 16),
                                                    .index = saturated(index, 16),
                                                    .flags = static_cast<uint32_t>(flags)});
    stream->set_current_task(task->value);
    if ((flags & ompt_task_initial) != 0) {
      stream->move_regions(task->value);
    }
  } else {
    stream->emit(task_id(*stream, task->value), event::implicit_end{.flags = static_cast<uint32_t>(flags)});
    stream->set_current_task(stream->base_id());
  }
}

void on_task_create(ompt_data_t* encountering, const ompt_frame_t*, ompt_data_t* task, int flags, int,
                    const void* code) {
  Stream* stream = Stream::mine();
  if (stream == nullptr) {
    return;
  }
  const u64 parent = task_or_current(*stream, encountering);
  const u64 id = stream->new_id();
  task->value = id;
  stream->begin_creation(id, address(code), parent, pack_task_flags(flags));
  if (__builtin_expect(*names_used != 0, 0)) {
    record_name(*stream, id);
  }
}

void on_task_created(ompt_data_t task) {
  if (Stream* stream = Stream::mine_if_on()) stream->end_creation(task.value);
}

// Another thread may run the task next: so its word is only read.
void on_task_ready(ompt_data_t* task) {
  Stream* stream = Stream::mine();
  if (stream != nullptr && announced(task->value)) {
    stream->emit(task->value, event::task_ready{.by = stream->current_task()});
  }
}

void on_iteration(ompt_data_t* producer, const GraphIteration* iteration) {
  if (Stream* stream = Stream::mine()) {
    stream->emit(task_or_current(*stream, producer),
                 event::graph_iteration{.graph = saturated(iteration->graph, 32),
                                        .iteration = saturated(iteration->iteration, 32),
                                        .unfinished = iteration->unfinished,
                                        .how = iteration->how});
  }
}

void on_dependences(ompt_data_t* task, const ompt_dependence_t* dependences, int count) {
  Stream* stream = Stream::mine();
  if (stream == nullptr) {
    return;
  }
  if (count > 0 && (dependences[0].dependence_type == ompt_dependence_type_source ||
                    dependences[0].dependence_type == ompt_dependence_type_sink)) {
    return;  // the dependences are between iterations of a loop: no task and no address
  }
  const u64 id = task_or_current(*stream, task);
  const u64 time = stream->time_of_creation(id);
  for (int i = 0; i < count; ++i) {
    const ompt_dependence_t& dependence = dependences[i];
    stream->emit_at(time, id,
                    event::dependence{.address = address(dependence.variable.ptr),
                                      .type = static_cast<u64>(dependence.dependence_type)});
  }
}

// Called twice per task: has only the usual case, so that the compiler saves no registers for the other cases.
void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  Stream* stream = Stream::mine_if_on();
  if (__builtin_expect(stream == nullptr || prior == nullptr || next == nullptr || !announced(prior->value) ||
                           !announced(next->value),
                       0)) {
    schedule_slowly(prior, status, next);
    return;
  }
  const u64 from = prior->value;
  const u64 to = next->value;
  stream->set_current_task(to);
  if (status != ompt_task_complete || !stream->emit_run(from, to)) {
    stream->emit(from, event::task_schedule{.next = to, .status = static_cast<u64>(status)});
  }
}

}  // namespace marline::trace
