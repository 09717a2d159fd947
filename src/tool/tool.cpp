// SPDX-License-Identifier: Apache-2.0
//
// The callbacks that a tool has registered, and the emitters that call them. Any thread emits; the table is written by
// the tool, normally while it initialises.
#include "tool/tool.hpp"

namespace marline::tool {

using ompt::Callback;
using ompt::Data;

Atomic<uint32_t> g_enabled{0};

namespace {

Atomic<ompt::Function> g_callbacks[ompt::kLastCallback + 1] = {};

// Marline keeps no frame addresses: tools see ompt_data_none and flags of 0.
constexpr ompt::Frame kNoFrame = {};

// The task of the task_create callback that the thread is in. Nothing suspends in there: a plain thread-local will do.
struct CreatedTask {
  bool valid;
  const char* label;
  uint32_t color;
};
[[gnu::tls_model("initial-exec")]] thread_local CreatedTask t_created = {};

uint32_t event_of(Callback callback) {
  switch (callback) {
    case Callback::kThreadBegin:
    case Callback::kThreadEnd: return event::kThread;
    case Callback::kParallelBegin:
    case Callback::kParallelEnd: return event::kParallel;
    case Callback::kTaskCreate: return event::kTaskCreate;
    case Callback::kTaskSchedule: return event::kTaskSchedule;
    case Callback::kImplicitTask: return event::kImplicitTask;
    case Callback::kControlTool: return event::kControl;
    case Callback::kSyncRegionWait: return event::kSyncRegionWait;
    case Callback::kDependences: return event::kDependences;
    case Callback::kTaskDependence: return event::kTaskDependence;
    case Callback::kSyncRegion: return event::kSyncRegion;
  }
  return 0;
}

Data* data(uint64_t* word) { return reinterpret_cast<Data*>(word); }

// The registered callback as a function of these parameters, or null.
template <class... Parameters>
auto callback(Callback number) {
  // acquire: what the tool wrote before it registered the function is visible to it.
  ompt::Function function = g_callbacks[static_cast<int>(number)].load(acquire);
  return reinterpret_cast<void (*)(Parameters...)>(function);
}

void emit_sync(Callback number, SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
               const void* codeptr) {
  if (auto call = callback<int, int, Data*, Data*, const void*>(number)) {
    call(static_cast<int>(kind), static_cast<int>(endpoint), data(parallel_data), data(task_data), codeptr);
  }
}

}  // namespace

ompt::SetResult set_callback(int number, ompt::Function function) {
  if (number < 1 || number > ompt::kLastCallback) return ompt::SetResult::kError;
  uint32_t bit = event_of(static_cast<Callback>(number));
  if (bit == 0) return ompt::SetResult::kNever;
  g_callbacks[number].store(function, release);
  uint32_t enabled = 0;
  for (int i = 1; i <= ompt::kLastCallback; ++i) {
    if (g_callbacks[i].load(relaxed) != nullptr) enabled |= event_of(static_cast<Callback>(i));
  }
  g_enabled.store(enabled, relaxed);
  return ompt::SetResult::kAlways;
}

ompt::Function get_callback(int number) {
  return number < 1 || number > ompt::kLastCallback ? nullptr : g_callbacks[number].load(acquire);
}

void forget_callbacks() {
  g_enabled.store(0, relaxed);
  for (auto& callback : g_callbacks) callback.store(nullptr, relaxed);
}

bool created_task_info(const char** label, uint32_t* color) {
  if (!t_created.valid) return false;
  *label = t_created.label;
  *color = t_created.color;
  return true;
}

void thread_begin(uint64_t* thread_data, bool initial) {
  *thread_data = 0;
  if (auto call = callback<int, Data*>(Callback::kThreadBegin)) {
    call(static_cast<int>(initial ? ompt::Thread::kInitial : ompt::Thread::kWorker), data(thread_data));
  }
}

void thread_end(uint64_t* thread_data) {
  if (auto call = callback<Data*>(Callback::kThreadEnd)) call(data(thread_data));
}

void parallel_begin(uint64_t* task_data, uint64_t* parallel_data, unsigned requested, int flags, const void* codeptr) {
  if (auto call = callback<Data*, const ompt::Frame*, Data*, unsigned, int, const void*>(Callback::kParallelBegin)) {
    call(data(task_data), &kNoFrame, data(parallel_data), requested, flags, codeptr);
  }
}

void parallel_end(uint64_t* parallel_data, uint64_t* task_data, int flags, const void* codeptr) {
  if (auto call = callback<Data*, Data*, int, const void*>(Callback::kParallelEnd)) {
    call(data(parallel_data), data(task_data), flags, codeptr);
  }
}

void implicit_task(Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, unsigned team_size, unsigned index,
                   int flags) {
  if (auto call = callback<int, Data*, Data*, unsigned, unsigned, int>(Callback::kImplicitTask)) {
    call(static_cast<int>(endpoint), data(parallel_data), data(task_data), team_size, index, flags);
  }
}

void task_create(uint64_t* parent_data, uint64_t* task_data, int flags, bool has_dependences, const void* codeptr,
                 const char* label, uint32_t color) {
  if (auto call = callback<Data*, const ompt::Frame*, Data*, int, int, const void*>(Callback::kTaskCreate)) {
    t_created = {true, label, color};
    call(data(parent_data), &kNoFrame, data(task_data), flags, has_dependences ? 1 : 0, codeptr);
    t_created = {};
  }
}

void dependences(uint64_t* task_data, const DependenceRecord* list, size_t count) {
  static_assert(sizeof(DependenceRecord) == sizeof(ompt::Dependence) &&
                offsetof(DependenceRecord, type) == offsetof(ompt::Dependence, type));
  if (auto call = callback<Data*, const ompt::Dependence*, int>(Callback::kDependences)) {
    call(data(task_data), reinterpret_cast<const ompt::Dependence*>(list), static_cast<int>(count));
  }
}

void task_dependence(uint64_t* predecessor_data, uint64_t* successor_data) {
  if (auto call = callback<Data*, Data*>(Callback::kTaskDependence)) call(data(predecessor_data), data(successor_data));
}

void task_schedule(uint64_t* prior_data, TaskStatus status, uint64_t* next_data) {
  if (auto call = callback<Data*, int, Data*>(Callback::kTaskSchedule)) {
    call(data(prior_data), static_cast<int>(status), data(next_data));
  }
}

void sync_region(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                 const void* codeptr) {
  emit_sync(Callback::kSyncRegion, kind, endpoint, parallel_data, task_data, codeptr);
}

void sync_region_wait(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                      const void* codeptr) {
  emit_sync(Callback::kSyncRegionWait, kind, endpoint, parallel_data, task_data, codeptr);
}

void sync_wait_region(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                      const void* codeptr) {
  if (endpoint == Endpoint::kBegin) sync_region(kind, endpoint, parallel_data, task_data, codeptr);
  sync_region_wait(kind, endpoint, parallel_data, task_data, codeptr);
  if (endpoint == Endpoint::kEnd) sync_region(kind, endpoint, parallel_data, task_data, codeptr);
}

}  // namespace marline::tool
