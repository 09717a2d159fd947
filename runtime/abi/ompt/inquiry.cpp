// SPDX-License-Identifier: Apache-2.0
//
// The functions that a tool looks up by name (OpenMP 5.2, section 19.6), and Marline's own marline_task_info,
// marline_task_stack, marline_names_used, three functions that take an observer, and two of marline.h. A tool may call
// them from a signal handler in any thread, so they never register a thread and never allocate.
#include "../common/ompt_states.hpp"
#include "abi/omp/place_query.hpp"
#include "config/options.hpp"
#include "construct/task/task_events.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/team/binding.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/runtime.hpp"
#include "marline/marline.h"
#include "sched/library_call.hpp"
#include "sched/team.hpp"
#include "tool/devices.hpp"

#include <sched.h>

#include <cstring>

extern "C" int omp_get_num_devices();

namespace marline::ompt {

namespace {

Data* data(uint64_t* word) { return reinterpret_cast<Data*>(word); }

// The calling thread's worker, if there is a tool. Inside a library's call: the caller's worker.
Worker* known_worker() { return options().tool_started ? acting_worker() : nullptr; }

// The same worker if it runs a task, else null.
Worker* worker_with_task() {
  Worker* worker = known_worker();
  return worker != nullptr && worker->task != nullptr ? worker : nullptr;
}

int set_callback(int number, Function function) { return static_cast<int>(tool::set_callback(number, function)); }

int get_callback(int number, Function* function) {
  Function registered = tool::get_callback(number);
  if (registered == nullptr) return 0;
  *function = registered;
  return 1;
}

Data* get_thread_data() {
  Worker* worker = known_worker();
  return worker != nullptr ? data(&worker->tool_view.data) : nullptr;
}

int enumerate_states(int current, int* next, const char** name) {
  const int i = next_ompt_state(current);
  if (i == kOmptStateCount - 1) return 0;
  *next = kOmptStates[i].value;
  *name = kOmptStates[i].name;
  return 1;
}

// There is one implementation; it comes after ompt_mutex_impl_none, which is 0.
int enumerate_mutex_impls(int current, int* next, const char** name) {
  if (current != 0) return 0;
  *next = static_cast<int>(tool::kMutexImplementation);
  *name = tool::kMutexImplementationName;
  return 1;
}

int get_state(uint64_t* wait_id) {
  if (wait_id != nullptr) *wait_id = 0;
  Worker* worker = known_worker();
  if (!options().tool_started) return static_cast<int>(State::kWorkSerial);  // a tool may ask though it has declined
  if (worker == nullptr) return static_cast<int>(State::kUndefined);
  const ThreadWait& wait = worker->tool_view.wait;
  if (wait.task != nullptr && (worker->task == nullptr || worker->task == wait.task)) {
    if (wait_id != nullptr) *wait_id = wait.wait_id;
    return static_cast<int>(wait.state);
  }
  if (worker->task == nullptr) return static_cast<int>(State::kIdle);
  return static_cast<int>(worker->task->team->level > 0 ? State::kWorkParallel : State::kWorkSerial);
}

int get_parallel_info(int ancestor_level, Data** parallel_data, int* team_size) {
  Worker* worker = worker_with_task();
  const Member* member = worker != nullptr ? worker->member : nullptr;
  for (; member != nullptr && ancestor_level > 0; --ancestor_level) {
    member = is_around_gone(worker, member) ? nullptr : member->team->parent_member;
  }
  if (member == nullptr) return 0;
  if (parallel_data != nullptr) *parallel_data = data(&member->team->tool_data);
  if (team_size != nullptr) *team_size = member->team->size;
  return 2;
}

int get_task_info(int ancestor_level, int* flags, Data** task_data, Frame** frame, Data** parallel_data,
                  int* thread_num) {
  Worker* worker = worker_with_task();
  if (worker == nullptr) return 0;
  TasksOnStack stack(worker);
  for (; ancestor_level > 0 && stack.task() != nullptr; --ancestor_level) stack.outward();
  Task* task = stack.task();
  if (task == nullptr) return 0;
  if (flags != nullptr) *flags = tool_flags(task);
  if (task_data != nullptr) *task_data = data(&task->tool_data);
  if (frame != nullptr) *frame = frame_of(task);
  if (parallel_data != nullptr) *parallel_data = data(&task->team->tool_data);
  if (thread_num != nullptr) *thread_num = stack.member()->index;
  return 2;
}

int get_task_memory(void**, size_t*, int) { return 0; }  // blocks are not reported

uint64_t get_unique_id() { return tool::unique_id(); }

void finalize_tool() { marline::finalize_tool(this_worker_or_null()); }

int get_num_procs() { return processors(); }
int get_num_places() { return place_count(); }
int get_place_proc_ids(int place, int size, int* ids) { return place_cpus(place, size, ids); }

int get_place_num() {
  Worker* worker = known_worker();
  return worker != nullptr && worker->binding.place >= 0 ? worker->binding.place : -1;
}

int get_partition_place_nums(int size, int* places) {
  const Worker* worker = worker_with_task();
  if (worker == nullptr) return 0;
  PlacePartition partition = partition_of(worker->member);
  int count = partition.count;
  for (int i = 0; i < count && i < size; ++i) places[i] = partition.first + i;
  return count;
}

// Also in thread_begin, where the thread has no task yet: Caliper asks there.
int get_proc_id() { return known_worker() != nullptr ? sched_getcpu() : -1; }

// Of the device construct that the current task is in.
int get_target_info(uint64_t* device, uint64_t* target_id, uint64_t* operation_id) {
  Worker* worker = worker_with_task();
  const marline_construct_t* construct = worker != nullptr ? construct_of(worker->task) : nullptr;
  if (construct == nullptr) return 0;
  if (device != nullptr) *device = static_cast<uint64_t>(construct->device);
  if (target_id != nullptr) *target_id = construct->id;
  if (operation_id != nullptr) *operation_id = construct->operation;
  return 1;
}

int get_num_devices() { return omp_get_num_devices(); }

int task_info(const char** label, uint32_t* color) { return tool::created_task_info(label, color) ? 1 : 0; }

// The stack that the current task is on.
int task_stack(void** low, void** high) {
  Worker* worker = worker_with_task();
  if (worker == nullptr || worker->fiber == nullptr || worker->fiber->stack.low == nullptr) return 0;
  *low = worker->fiber->stack.low;
  *high = worker->fiber->stack.high;
  return 1;
}

// A word that is 0 as long as no task has a name.
const uint32_t* names_used() {
  static_assert(sizeof tool::g_names_used == sizeof(uint32_t));
  return reinterpret_cast<const uint32_t*>(&tool::g_names_used);
}

struct Entry {
  const char* name;
  Function function;
};

template <class F>
Function erase(F* function) {
  return reinterpret_cast<Function>(function);
}

const Entry kEntries[] = {
    {"ompt_set_callback", erase(set_callback)},
    {"ompt_get_callback", erase(get_callback)},
    {"ompt_get_thread_data", erase(get_thread_data)},
    {"ompt_enumerate_states", erase(enumerate_states)},
    {"ompt_enumerate_mutex_impls", erase(enumerate_mutex_impls)},
    {"ompt_get_state", erase(get_state)},
    {"ompt_get_parallel_info", erase(get_parallel_info)},
    {"ompt_get_task_info", erase(get_task_info)},
    {"ompt_get_task_memory", erase(get_task_memory)},
    {"ompt_get_unique_id", erase(get_unique_id)},
    {"ompt_finalize_tool", erase(finalize_tool)},
    {"ompt_get_num_procs", erase(get_num_procs)},
    {"ompt_get_num_places", erase(get_num_places)},
    {"ompt_get_place_proc_ids", erase(get_place_proc_ids)},
    {"ompt_get_place_num", erase(get_place_num)},
    {"ompt_get_partition_place_nums", erase(get_partition_place_nums)},
    {"ompt_get_proc_id", erase(get_proc_id)},
    {"ompt_get_target_info", erase(get_target_info)},
    {"ompt_get_num_devices", erase(get_num_devices)},
    {"marline_task_info", erase(task_info)},
    {"marline_task_stack", erase(task_stack)},
    {"marline_names_used", erase(names_used)},
    {"marline_counters_read", erase(marline_counters_read)},
    {"marline_suspend_observe", erase(marline_suspend_observe)},
    {"marline_copies_observe", erase(tool::observe_copies)},
    {"marline_ready_observe", erase(tool::observe_readiness)},
    {"marline_created_observe", erase(tool::observe_creations)},
    {"marline_iteration_observe", erase(tool::observe_iterations)},
};

}  // namespace

}  // namespace marline::ompt

namespace marline::tool {

ompt::Function inquiry(const char* name) {
  for (const ompt::Entry& entry : ompt::kEntries) {
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}

}  // namespace marline::tool
