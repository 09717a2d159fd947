// SPDX-License-Identifier: Apache-2.0
//
// The callbacks that a tool has registered, and the emitters that call them. Any thread may emit an event. The tool
// writes the table, normally while it initialises.
#include "tool/tool.hpp"

#include "base/spin_lock.hpp"

namespace marline::tool {

using ompt::Callback;
using ompt::Data;
using ompt::SetResult;

Atomic<uint32_t> g_enabled{event::kBeforeStart};
Atomic<uint32_t> g_names_used{0};

namespace {

Atomic<ompt::Function> g_callbacks[ompt::kLastCallback + 1] = {};
Atomic<void (*)()> g_suspend_observer{nullptr};
Atomic<void (*)(Data*)> g_ready_observer{nullptr};
Atomic<void (*)(const void*, size_t)> g_copies_observer{nullptr};
Atomic<void (*)(Data)> g_created_observer{nullptr};
Atomic<void (*)(Data*, const GraphIteration*)> g_iteration_observer{nullptr};
Atomic<const marline_target_observer*> g_target_observer{nullptr};
// Taken when a tool sets a callback.
SpinLock g_registration_lock;
int g_traces = 0;         // number of traced devices; under g_registration_lock
bool g_debugged = false;  // likewise

// The task of the task_create callback that the thread is in. No task suspends there, so a plain thread-local is
// enough.
struct CreatedTask {
  const char* label;
  uint32_t color;
};
[[gnu::tls_model("initial-exec")]] thread_local const CreatedTask* t_created = nullptr;

// A callback, the bit for it in g_enabled, and how often a tool is notified of its event. Compilers generate some
// constructs in line, without a call of any runtime: GCC for static loops and masked, both compilers for most atomics.
// GCC calls nothing at the end of a single. Apart from that, reductions, the ends of threads and the events of a mutex
// are complete; Archer requires "always" for them. An event without endpoints cannot come unpaired, so it is "sometimes
// paired": Score-P drops what is promised with less.
struct Known {
  Callback callback;
  uint32_t event;
  SetResult result;
};
constexpr Known kKnown[] = {
    {Callback::kThreadBegin, event::kThread, SetResult::kAlways},
    {Callback::kThreadEnd, event::kThread, SetResult::kAlways},
    {Callback::kParallelBegin, event::kParallel, SetResult::kAlways},
    {Callback::kParallelEnd, event::kParallel, SetResult::kAlways},
    {Callback::kTaskCreate, event::kTaskCreate, SetResult::kAlways},
    {Callback::kTaskSchedule, event::kTaskSchedule, SetResult::kAlways},
    {Callback::kImplicitTask, event::kImplicitTask, SetResult::kAlways},
    {Callback::kTarget, event::kTarget, SetResult::kAlways},
    {Callback::kTargetDataOp, event::kTargetData, SetResult::kAlways},
    {Callback::kTargetSubmit, event::kTargetSubmit, SetResult::kAlways},
    {Callback::kControlTool, event::kControl, SetResult::kAlways},
    {Callback::kDeviceInitialize, event::kDevice, SetResult::kAlways},
    {Callback::kDeviceFinalize, event::kDevice, SetResult::kAlways},
    {Callback::kDeviceLoad, event::kDevice, SetResult::kAlways},
    {Callback::kDeviceUnload, event::kDevice, SetResult::kAlways},
    {Callback::kSyncRegionWait, event::kSyncRegionWait, SetResult::kAlways},
    {Callback::kMutexReleased, event::kMutex, SetResult::kAlways},
    {Callback::kDependences, event::kDependences, SetResult::kAlways},
    {Callback::kTaskDependence, event::kTaskDependence, SetResult::kAlways},
    {Callback::kWork, event::kWork, SetResult::kSometimesPaired},
    {Callback::kMasked, event::kMasked, SetResult::kSometimesPaired},
    {Callback::kTargetMap, event::kTargetMap, SetResult::kSometimes},
    {Callback::kSyncRegion, event::kSyncRegion, SetResult::kAlways},
    {Callback::kLockInit, event::kLock, SetResult::kAlways},
    {Callback::kLockDestroy, event::kLock, SetResult::kAlways},
    {Callback::kMutexAcquire, event::kMutex, SetResult::kAlways},
    {Callback::kMutexAcquired, event::kMutex, SetResult::kAlways},
    {Callback::kNestLock, event::kMutex, SetResult::kAlways},
    {Callback::kFlush, event::kFlush, SetResult::kSometimesPaired},
    {Callback::kCancel, event::kCancel, SetResult::kSometimesPaired},
    {Callback::kReduction, event::kReduction, SetResult::kAlways},
    {Callback::kDispatch, event::kDispatch, SetResult::kSometimesPaired},
    {Callback::kTargetEmi, event::kTarget, SetResult::kAlways},
    {Callback::kTargetDataOpEmi, event::kTargetData, SetResult::kAlways},
    {Callback::kTargetSubmitEmi, event::kTargetSubmit, SetResult::kAlways},
    {Callback::kTargetMapEmi, event::kTargetMap, SetResult::kSometimes},
    {Callback::kError, event::kError, SetResult::kAlways},
};

const Known* known(int number) {
  for (const Known& entry : kKnown) {
    if (static_cast<int>(entry.callback) == number) return &entry;
  }
  return nullptr;
}

Data* data(uint64_t* word) { return reinterpret_cast<Data*>(word); }

// The registered callback as a function with these parameters, or null.
template <class... Parameters>
auto callback(Callback number) {
  // acquire: what the tool wrote before it registered the function is visible to the function.
  ompt::Function function = g_callbacks[static_cast<int>(number)].load(acquire);
  return reinterpret_cast<void (*)(Parameters...)>(function);
}

void emit_region(Callback number, SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                 const void* codeptr) {
  if (auto call = callback<int, int, Data*, Data*, const void*>(number)) {
    call(static_cast<int>(kind), static_cast<int>(endpoint), data(parallel_data), data(task_data), codeptr);
  }
}

// A debugger's breakpoints come with these events. It reads states and frames, which are kept only while a tool is
// present.
constexpr uint32_t kForDebugger = event::kDebugger | event::kTool | event::kThread | event::kParallel;

// The bits of events that are reported without a callback.
uint32_t observed() {
  return (g_debugged ? kForDebugger : 0) | (g_suspend_observer.load(relaxed) != nullptr ? event::kSuspend : 0) |
         (g_ready_observer.load(relaxed) != nullptr ? event::kReady : 0) |
         (g_created_observer.load(relaxed) != nullptr ? event::kCreated : 0) |
         (g_traces > 0 ? event::kDeviceTimes : 0) |
         (g_target_observer.load(relaxed) != nullptr ? event::kTargetTasks : 0);
}

}  // namespace

SetResult set_callback(int number, ompt::Function function) {
  if (number < 1 || number > ompt::kLastCallback) return SetResult::kError;
  const Known* entry = known(number);
  if (entry == nullptr) return SetResult::kNever;
  // Otherwise one of two threads that register at the same time could omit the other one's bit.
  Guard<SpinLock> guard(g_registration_lock);
  g_callbacks[number].store(function, release);
  uint32_t enabled = event::kTool | observed();
  for (const Known& other : kKnown) {
    if (g_callbacks[static_cast<int>(other.callback)].load(relaxed) != nullptr) enabled |= other.event;
  }
  bool has_emi = g_callbacks[static_cast<int>(Callback::kTargetEmi)].load(relaxed) != nullptr;
  if ((enabled & event::kTarget) != 0 && !has_emi) enabled |= event::kTargetByTask;
  g_enabled.store(enabled, relaxed);
  return entry->result;
}

void observe_suspensions(void (*observer)()) {
  Guard<SpinLock> guard(g_registration_lock);
  g_suspend_observer.store(observer, release);  // acquire: suspending
  g_enabled.store((g_enabled.load(relaxed) & ~event::kSuspend) | observed(), relaxed);
}

void observe_copies(void (*observer)(const void*, size_t)) {
  g_copies_observer.store(observer, release);  // acquire: reduction_copies
}

void observe_readiness(void (*observer)(Data*)) {
  Guard<SpinLock> guard(g_registration_lock);
  g_ready_observer.store(observer, release);  // acquire: task_ready
  g_enabled.store((g_enabled.load(relaxed) & ~event::kReady) | observed(), relaxed);
}

void observe_creations(void (*observer)(Data)) {
  Guard<SpinLock> guard(g_registration_lock);
  g_created_observer.store(observer, release);  // acquire: task_created
  g_enabled.store((g_enabled.load(relaxed) & ~event::kCreated) | observed(), relaxed);
}

void observe_iterations(void (*observer)(Data*, const GraphIteration*)) {
  g_iteration_observer.store(observer, release);  // acquire: graph_iteration
}

bool observe_target_tasks(const marline_target_observer* observer) {
  Guard<SpinLock> guard(g_registration_lock);
  if (g_target_observer.load(relaxed) != nullptr) return false;
  g_target_observer.store(observer, release);  // pairs with target_observer
  g_enabled.store(g_enabled.load(relaxed) | observed(), relaxed);
  return true;
}

// Pairs with observe_target_tasks.
const marline_target_observer* target_observer() { return g_target_observer.load(acquire); }

void trace_runs(int more) {
  Guard<SpinLock> guard(g_registration_lock);
  g_traces += more;
  g_enabled.store((g_enabled.load(relaxed) & ~event::kDeviceTimes) | observed(), relaxed);
}

ompt::Function get_callback(int number) {
  return number < 1 || number > ompt::kLastCallback ? nullptr : g_callbacks[number].load(acquire);
}

void accept_callbacks() {
  Guard<SpinLock> guard(g_registration_lock);
  g_enabled.store(event::kTool | observed(), relaxed);
}

void accept_debugger() {
  Guard<SpinLock> guard(g_registration_lock);
  g_debugged = true;
  g_enabled.store(g_enabled.load(relaxed) | observed(), relaxed);
}

void registration_lock() { g_registration_lock.lock(); }
void registration_unlock() { g_registration_lock.unlock(); }

void forget_callbacks() {
  Guard<SpinLock> guard(g_registration_lock);
  g_ready_observer.store(nullptr, relaxed);
  g_created_observer.store(nullptr, relaxed);
  g_iteration_observer.store(nullptr, relaxed);
  g_enabled.store(observed(), relaxed);
  for (auto& callback : g_callbacks) callback.store(nullptr, relaxed);
}

bool created_task_info(const char** label, uint32_t* color) {
  if (t_created == nullptr) return false;
  *label = t_created->label;
  *color = t_created->color;
  return true;
}

void thread_begin(uint64_t* thread_data, bool initial) {
  *thread_data = 0;
  if (auto call = callback<int, Data*>(Callback::kThreadBegin)) {
    call(static_cast<int>(initial ? ompt::Thread::kInitial : ompt::Thread::kWorker), data(thread_data));
  }
  if (debugged()) ompd_bp_thread_begin();
}

void thread_end(uint64_t* thread_data) {
  if (debugged()) ompd_bp_thread_end();
  if (auto call = callback<Data*>(Callback::kThreadEnd)) call(data(thread_data));
}

void parallel_begin(uint64_t* task_data, const ompt::Frame* task_frame, uint64_t* parallel_data, unsigned requested,
                    int flags, const void* codeptr) {
  if (auto call = callback<Data*, const ompt::Frame*, Data*, unsigned, int, const void*>(Callback::kParallelBegin)) {
    call(data(task_data), task_frame, data(parallel_data), requested, flags, codeptr);
  }
  if (debugged() && (flags & parallel_bits::kLeague) != 0) ompd_bp_teams_begin();
}

void parallel_end(uint64_t* parallel_data, uint64_t* task_data, int flags, const void* codeptr) {
  if (debugged()) (flags & parallel_bits::kLeague) != 0 ? ompd_bp_teams_end() : ompd_bp_parallel_end();
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

void task_create(uint64_t* parent_data, const ompt::Frame* parent_frame, uint64_t* task_data, int flags,
                 bool has_dependences, const void* codeptr, const char* label, uint32_t color) {
  if (auto call = callback<Data*, const ompt::Frame*, Data*, int, int, const void*>(Callback::kTaskCreate)) {
    CreatedTask created{label, color};
    t_created = &created;
    call(data(parent_data), parent_frame, data(task_data), flags, has_dependences ? 1 : 0, codeptr);
    t_created = nullptr;
  }
}

void task_created(uint64_t task_data) {
  // acquire: pairs with observe_creations
  if (auto* observer = g_created_observer.load(acquire)) observer(Data{.value = task_data});
}

void graph_iteration(uint64_t* producer_data, const GraphIteration& iteration) {
  // acquire: pairs with observe_iterations
  if (auto* observer = g_iteration_observer.load(acquire)) observer(data(producer_data), &iteration);
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

void suspending() {
  if (auto* observer = g_suspend_observer.load(acquire)) observer();  // pairs with observe_suspensions
}

void reduction_copies(const void* memory, size_t bytes) {
  if (auto* observer = g_copies_observer.load(acquire)) observer(memory, bytes);  // pairs with observe_copies
}

void task_ready(uint64_t* task_data) {
  if (auto* observer = g_ready_observer.load(acquire)) observer(data(task_data));  // pairs with observe_readiness
}

void task_schedule(uint64_t* prior_data, TaskStatus status, uint64_t* next_data) {
  if (auto call = callback<Data*, int, Data*>(Callback::kTaskSchedule)) {
    call(data(prior_data), static_cast<int>(status), data(next_data));
  }
}

void cancel(uint64_t* task_data, int flags, const void* codeptr) {
  if (auto call = callback<Data*, int, const void*>(Callback::kCancel)) call(data(task_data), flags, codeptr);
}

void sync_region(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                 const void* codeptr) {
  emit_region(Callback::kSyncRegion, kind, endpoint, parallel_data, task_data, codeptr);
}

void sync_region_wait(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                      const void* codeptr) {
  emit_region(Callback::kSyncRegionWait, kind, endpoint, parallel_data, task_data, codeptr);
}

void sync_wait_region(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                      const void* codeptr) {
  if (endpoint == Endpoint::kBegin) sync_region(kind, endpoint, parallel_data, task_data, codeptr);
  sync_region_wait(kind, endpoint, parallel_data, task_data, codeptr);
  if (endpoint == Endpoint::kEnd) sync_region(kind, endpoint, parallel_data, task_data, codeptr);
}

void reduction(Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, const void* codeptr) {
  emit_region(Callback::kReduction, SyncRegion::kReduction, endpoint, parallel_data, task_data, codeptr);
}

void work(Work kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, uint64_t count,
          const void* codeptr) {
  if (auto call = callback<int, int, Data*, Data*, uint64_t, const void*>(Callback::kWork)) {
    call(static_cast<int>(kind), static_cast<int>(endpoint), data(parallel_data), data(task_data), count, codeptr);
  }
}

void dispatch_chunk(Dispatch kind, uint64_t* parallel_data, uint64_t* task_data, uint64_t first, uint64_t iterations) {
  if (auto call = callback<Data*, Data*, int, Data>(Callback::kDispatch)) {
    ompt::DispatchChunk chunk{first, iterations};
    call(data(parallel_data), data(task_data), static_cast<int>(kind), Data{.ptr = &chunk});
  }
}

void dispatch_section(uint64_t* parallel_data, uint64_t* task_data, const void* codeptr) {
  if (auto call = callback<Data*, Data*, int, Data>(Callback::kDispatch)) {
    call(data(parallel_data), data(task_data), static_cast<int>(Dispatch::kSection),
         Data{.ptr = const_cast<void*>(codeptr)});
  }
}

void flush(uint64_t* thread_data, const void* codeptr) {
  if (auto call = callback<Data*, const void*>(Callback::kFlush)) call(data(thread_data), codeptr);
}

void error(int severity, const char* message, size_t length, const void* codeptr) {
  if (auto call = callback<int, const char*, size_t, const void*>(Callback::kError)) {
    call(severity, message, length, codeptr);
  }
}

void masked(Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, const void* codeptr) {
  if (auto call = callback<int, Data*, Data*, const void*>(Callback::kMasked)) {
    call(static_cast<int>(endpoint), data(parallel_data), data(task_data), codeptr);
  }
}

void lock_init(Mutex kind, unsigned hint, uint64_t wait_id, const void* codeptr) {
  if (auto call = callback<int, unsigned, unsigned, uint64_t, const void*>(Callback::kLockInit)) {
    call(static_cast<int>(kind), hint, kMutexImplementation, wait_id, codeptr);
  }
}

void lock_destroy(Mutex kind, uint64_t wait_id, const void* codeptr) {
  if (auto call = callback<int, uint64_t, const void*>(Callback::kLockDestroy)) {
    call(static_cast<int>(kind), wait_id, codeptr);
  }
}

void mutex_acquire(Mutex kind, unsigned hint, uint64_t wait_id, const void* codeptr) {
  if (auto call = callback<int, unsigned, unsigned, uint64_t, const void*>(Callback::kMutexAcquire)) {
    call(static_cast<int>(kind), hint, kMutexImplementation, wait_id, codeptr);
  }
}

void mutex_acquired(Mutex kind, uint64_t wait_id, const void* codeptr) {
  if (auto call = callback<int, uint64_t, const void*>(Callback::kMutexAcquired)) {
    call(static_cast<int>(kind), wait_id, codeptr);
  }
}

void mutex_released(Mutex kind, uint64_t wait_id, const void* codeptr) {
  if (auto call = callback<int, uint64_t, const void*>(Callback::kMutexReleased)) {
    call(static_cast<int>(kind), wait_id, codeptr);
  }
}

void nest_lock(Endpoint endpoint, uint64_t wait_id, const void* codeptr) {
  if (auto call = callback<int, uint64_t, const void*>(Callback::kNestLock)) {
    call(static_cast<int>(endpoint), wait_id, codeptr);
  }
}

}  // namespace marline::tool
