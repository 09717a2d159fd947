// SPDX-License-Identifier: Apache-2.0
//
// OMPT callbacks of synchronisation, mutexes and worksharing: events of the thread's current task, which they do not
// change.
#include "ompt/callbacks.hpp"

namespace marline::trace {
namespace {

template <class Begin, class End, class... Fields>
void record_scope(ompt_scope_endpoint_t endpoint, ompt_data_t* task, Fields... fields) {
  Stream* stream = Stream::mine();
  if (stream == nullptr) {
    return;
  }
  const u64 id = task_or_current(*stream, task);
  if (endpoint != ompt_scope_end) {
    stream->emit(id, Begin{fields...});
  }
  if (endpoint != ompt_scope_begin) {  // one event may stand for both ends
    stream->emit(id, End{fields...});
  }
}

template <class Event>
void record_mutex(ompt_mutex_t kind, ompt_wait_id_t wait_id) {
  if (Stream* stream = Stream::mine()) {
    stream->emit(stream->current_task(), Event{.wait_id = wait_id, .kind = static_cast<u64>(kind)});
  }
}

}  // namespace

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task,
                    const void* code) {
  record_scope<event::sync_begin, event::sync_end>(endpoint, task, address(code), static_cast<u64>(kind));
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task,
                         const void* code) {
  record_scope<event::wait_begin, event::wait_end>(endpoint, task, address(code), static_cast<u64>(kind));
}

void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task, uint64_t count,
             const void* code) {
  record_scope<event::work_begin, event::work_end>(endpoint, task, address(code), saturated(count, 48),
                                                   static_cast<u64>(kind));
}

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t wait_id, const void* code) {
  if (Stream* stream = Stream::mine()) stream->note_site(wait_id, code, 1);
  record_mutex<event::mutex_acquire>(kind, wait_id);
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void*) {
  record_mutex<event::mutex_acquired>(kind, wait_id);
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void*) {
  record_mutex<event::mutex_released>(kind, wait_id);
}

}  // namespace marline::trace
