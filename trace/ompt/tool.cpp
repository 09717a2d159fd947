// SPDX-License-Identifier: Apache-2.0
//
// The OMPT side of the recorder: ompt_start_tool, and the registration of the callbacks that the wanted events need. It
// works on any runtime with OMPT (OpenMP 5.0 and later). A callback that a runtime does not offer is left out, and
// events that are not wanted cost nothing. Runs in one thread, while the runtime starts.
#include "base/recorder.hpp"
#include "ompt/callbacks.hpp"
#include "ompt/set.hpp"
#include "signal/on_signal.hpp"
#include "sums/sums.hpp"
#include "usage/memory.hpp"

namespace marline::trace {
namespace {

// OpenMP 5.1, 4.5.2.29 and 4.4.4: what omp_control_tool passes on, and what it gives back.
int on_control_tool(uint64_t command, uint64_t, void*, const void*) {
  enum { kStart = 1, kPause, kFlush, kEnd };
  enum { kSuccess = 0, kIgnored = 1 };
  switch (command) {
    case kStart: control_recording(Control::kOn); break;
    case kPause: control_recording(Control::kOff); break;
    case kFlush: control_recording(Control::kFlush); break;
    case kEnd: control_recording(Control::kEnd); break;
    default: return kIgnored;
  }
  return kSuccess;
}

using ReadCounters = decltype(&marline_counters_read);
ReadCounters read_counters = nullptr;  // null on other runtimes than Marline

// Marline's own events: `name` is its function that takes what is to be called.
template <class Function>
void observe(ompt_function_lookup_t lookup, const char* name, Function function) {
  const auto take = reinterpret_cast<void (*)(Function)>(lookup(name));
  if (take != nullptr) take(function);
}

void find_names(ompt_function_lookup_t lookup) {
  static constexpr uint32_t kAlways = 1;
  using NamesUsed = const uint32_t* (*)();
  task_info = reinterpret_cast<TaskInfo>(lookup("marline_task_info"));
  if (task_info != nullptr) {
    const auto used = reinterpret_cast<NamesUsed>(lookup("marline_names_used"));
    names_used = used == nullptr ? &kAlways : used();
  }
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  find_names(lookup);
  set_all(set, {callback(ompt_callback_control_tool, on_control_tool)});
  if (aggregating()) {
    set_sums(set);
    return 1;
  }
  read_counters = reinterpret_cast<ReadCounters>(lookup("marline_counters_read"));
  // Registered always: which task a thread runs.
  set_all(
      set,
      {callback(ompt_callback_thread_begin, on_thread_begin), callback(ompt_callback_thread_end, on_thread_end),
       callback(ompt_callback_parallel_begin, on_parallel_begin), callback(ompt_callback_parallel_end, on_parallel_end),
       callback(ompt_callback_implicit_task, on_implicit_task)});
  set_wanted(
      set, kTaskEvents,
      {callback(ompt_callback_task_create, on_task_create), callback(ompt_callback_task_schedule, on_task_schedule)});
  if (wanted(kTaskEvents)) {
    observe(lookup, "marline_created_observe", on_task_created);
    observe(lookup, "marline_ready_observe", on_task_ready);
    observe(lookup, "marline_iteration_observe", on_iteration);
  }
  set_wanted(set, kDependenceEvents, {callback(ompt_callback_dependences, on_dependences)});
  set_wanted(set, kSyncEvents,
             {callback(ompt_callback_sync_region, on_sync_region),
              callback(ompt_callback_sync_region_wait, on_sync_region_wait)});
  set_wanted(set, kWorkEvents, {callback(ompt_callback_work, on_work)});
  set_wanted(set, kMutexEvents,
             {callback(ompt_callback_mutex_acquire, on_mutex_acquire),
              callback(ompt_callback_mutex_acquired, on_mutex_acquired),
              callback(ompt_callback_mutex_released, on_mutex_released)});
  set_wanted(
      set, kDeviceEvents,
      {callback(ompt_callback_device_initialize, on_device_initialize), callback(ompt_callback_target_emi, on_target)});
  if (wanted(kDeviceEvents)) {
    before_control(flush_devices);
  }
  count_at_switches(set);
  begin_memory();
  return 1;
}

void finalize(ompt_data_t*) {
  end_sums();
  if (read_counters != nullptr) {
    marline_counters_t counters;
    read_counters(&counters, sizeof counters);
    set_counters(counters);
  }
  write_metadata();
}

}  // namespace
}  // namespace marline::trace

// OpenMP 5.1, 4.2.1: a null result means that there is nothing to record, and the runtime then runs as if there were no
// tool.
extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(
    unsigned omp_version, const char* runtime_version) {
  static ompt_start_tool_result_t result = {marline::trace::initialize, marline::trace::finalize, {}};
  marline::trace::set_runtime(runtime_version, omp_version);
  const bool records = marline::trace::start_recording();
  marline::trace::begin_sums();
  marline::trace::copy_ring_on_signal();
  return records || marline::trace::aggregating() ? &result : nullptr;
}
