// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that stand in for those of tasks.cpp and waits.cpp if threads count (usage/counters.hpp): each reads the
// thread's counters where the thread goes from one task, or from a wait, to another. The values are read outside of the
// stretch of a task where possible: before it begins and after it has ended, so that reading is not in its time.
#include "usage/counters.hpp"
#include "ompt/callbacks.hpp"

namespace marline::trace {
namespace {

// Where the thread is before an event.
struct Here {
  Stream* stream = Stream::mine();
  u64 task = stream == nullptr ? 0 : stream->current_task();

  void count() const {
    if (stream != nullptr) record_counters(*stream, task);
  }
};

void counted_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  const Here here;
  const bool ends = status == ompt_task_complete;
  if (!ends) here.count();
  on_task_schedule(prior, status, next);
  if (ends) here.count();
}

void counted_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                           unsigned index, int flags) {
  const Here here;
  if (endpoint == ompt_scope_begin) here.count();
  on_implicit_task(endpoint, parallel, task, size, index, flags);
  if (endpoint != ompt_scope_begin) here.count();
}

void counted_parallel_end(ompt_data_t* parallel, ompt_data_t* encountering, int flags, const void* code) {
  Here().count();
  on_parallel_end(parallel, encountering, flags, code);
}

// The reader asks whether a task waited, or was in a loop, at the time of the last values: so these come after the
// record of the wait or the loop.
void counted_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                              ompt_data_t* task, const void* code) {
  on_sync_region_wait(kind, endpoint, parallel, task, code);
  if (endpoint != ompt_scope_beginend) Here().count();
}

void counted_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                  uint64_t count, const void* code) {
  on_work(kind, endpoint, parallel, task, count, code);
  if (endpoint != ompt_scope_beginend) Here().count();
}

}  // namespace

void count_at_switches(ompt_set_callback_t set) {
  open_counters();
  if (!counting()) return;
  set(ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(counted_implicit_task));
  set(ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(counted_parallel_end));
  if (wanted(kTaskEvents)) {
    set(ompt_callback_task_schedule, reinterpret_cast<ompt_callback_t>(counted_task_schedule));
  }
  if (wanted(kWorkEvents)) {
    set(ompt_callback_work, reinterpret_cast<ompt_callback_t>(counted_work));
  }
  if (wanted(kSyncEvents)) {
    set(ompt_callback_sync_region_wait, reinterpret_cast<ompt_callback_t>(counted_sync_region_wait));
  }
}

}  // namespace marline::trace
