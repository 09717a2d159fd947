// SPDX-License-Identifier: Apache-2.0
//
// OMPT emitters (OpenMP 5.2, chapter 19): the events that the runtime reports to a performance tool. Without a tool, or
// if the tool has not asked for an event, an event costs one load and one branch. The layers above call an emitter;
// tool.cpp calls the tool. `data` words are ompt_data_t; the object that they describe owns them.
#pragma once

#include "base/atomic.hpp"
#include "tool/debugger.hpp"
#include "tool/ompt_types.hpp"

#include <cstddef>
#include <cstdint>

struct marline_target_observer;  // devices.h

namespace marline::tool {

// One bit per kind of event for which a tool has registered a callback. Written by ompt_set_callback and
// marline_suspend_observe, read everywhere.
extern Atomic<uint32_t> g_enabled;

// 1 once any task has been given a label or a colour: only then a tool asks for them (marline_names_used). Written by
// the thread that sets a label or colour, and then creates the task.
extern Atomic<uint32_t> g_names_used;

namespace event {
inline constexpr uint32_t kThread = 1u << 0;
inline constexpr uint32_t kParallel = 1u << 1;
inline constexpr uint32_t kImplicitTask = 1u << 2;
inline constexpr uint32_t kTaskCreate = 1u << 3;
inline constexpr uint32_t kTaskSchedule = 1u << 4;
inline constexpr uint32_t kDependences = 1u << 5;
inline constexpr uint32_t kTaskDependence = 1u << 6;
inline constexpr uint32_t kSyncRegion = 1u << 7;
inline constexpr uint32_t kSyncRegionWait = 1u << 8;
inline constexpr uint32_t kControl = 1u << 9;
inline constexpr uint32_t kWork = 1u << 10;
inline constexpr uint32_t kDispatch = 1u << 11;
inline constexpr uint32_t kMasked = 1u << 12;
inline constexpr uint32_t kReduction = 1u << 13;
inline constexpr uint32_t kLock = 1u << 14;   // lock_init, lock_destroy
inline constexpr uint32_t kMutex = 1u << 15;  // mutex_acquire, mutex_acquired, mutex_released, nest_lock
inline constexpr uint32_t kCancel = 1u << 17;
inline constexpr uint32_t kFlush = 1u << 19;
inline constexpr uint32_t kError = 1u << 20;
inline constexpr uint32_t kTool = 1u << 16;    // a tool is present, and may ask for states
inline constexpr uint32_t kTarget = 1u << 21;  // these six are the same in include/marline/devices.h
inline constexpr uint32_t kTargetData = 1u << 22;
inline constexpr uint32_t kTargetSubmit = 1u << 23;
inline constexpr uint32_t kTargetMap = 1u << 24;
inline constexpr uint32_t kDevice = 1u << 25;
inline constexpr uint32_t kDeviceTimes = 1u << 26;  // a device is traced
inline constexpr uint32_t kOfDevices = 63u << 21;
inline constexpr uint32_t kTargetByTask = 1u << 28;  // not an event: MARLINE_ON_BY_TASK of devices.h
// Marline's own: a library is notified of target tasks (tool/target_observer.hpp).
inline constexpr uint32_t kTargetTasks = 1u << 27;
inline constexpr uint32_t kSuspend = 1u << 18;   // Marline's own: a task leaves its thread (marline_suspend_observe)
inline constexpr uint32_t kReady = 1u << 29;     // and: a suspended task can go on (marline_ready_observe)
inline constexpr uint32_t kCreated = 1u << 30;   // and: the creation of a task has ended (marline_created_observe)
inline constexpr uint32_t kDebugger = 1u << 31;  // OMP_DEBUG=enabled (tool/debugger.hpp)
// Events that may come before the runtime starts and looks for a tool: until then they count as wanted.
inline constexpr uint32_t kBeforeStart = kTool | kLock | kMutex | kFlush | kOfDevices;
}  // namespace event

// relaxed: a callback that is registered while events happen may miss some of them.
inline bool on(uint32_t events) { return (g_enabled.load(relaxed) & events) != 0; }
inline bool present() { return on(event::kTool); }
inline bool debugged() { return on(event::kDebugger); }

// Values of ompt_scope_endpoint_t, ompt_task_status_t, ompt_sync_region_t, ompt_work_t, ompt_mutex_t,
// ompt_dispatch_t, ompt_task_flag_t, ompt_parallel_flag_t (omp-tools.h).
enum class Endpoint : int { kBegin = 1, kEnd = 2 };
enum class TaskStatus : int {
  kComplete = 1,
  kYield = 2,
  kCancel = 3,
  kDetach = 4,
  kEarlyFulfill = 5,
  kLateFulfill = 6,
  kSwitch = 7,
  kTaskwaitComplete = 8
};
enum class SyncRegion : int {
  kBarrierExplicit = 3,
  kBarrierImplementation = 4,
  kTaskwait = 5,
  kTaskgroup = 6,
  kReduction = 7,
  kBarrierImplicitWorkshare = 8,
  kBarrierImplicitParallel = 9,
  kBarrierTeams = 10
};
enum class Work : int {
  kNone = 0,
  kSections = 2,
  kSingleExecutor = 3,
  kSingleOther = 4,
  kDistribute = 6,
  kTaskloop = 7,
  kScope = 8,
  kLoopStatic = 10,
  kLoopDynamic = 11,
  kLoopGuided = 12
};
enum class Mutex : int {
  kLock = 1,
  kTestLock = 2,
  kNestLock = 3,
  kTestNestLock = 4,
  kCritical = 5,
  kAtomic = 6,
  kOrdered = 7
};
enum class Dispatch : int { kSection = 2, kLoopChunk = 3, kTaskloopChunk = 4, kDistributeChunk = 5 };
namespace parallel_bits {
inline constexpr int kCalledByProgram = 0x1, kCalledByRuntime = 0x2, kTeam = int(0x80000000u);
inline constexpr int kLeague = 0x40000000;
}  // namespace parallel_bits
namespace task_bits {
inline constexpr int kInitial = 0x1, kImplicit = 0x2, kExplicit = 0x4, kTarget = 0x8, kTaskwait = 0x10;
inline constexpr int kUndeferred = 0x08000000, kUntied = 0x10000000, kFinal = 0x20000000, kMergeable = 0x40000000;
}  // namespace task_bits

namespace cancel_bits {  // ompt_cancel_flag_t
inline constexpr int kParallel = 0x01, kSections = 0x02, kLoop = 0x04, kTaskgroup = 0x08;
inline constexpr int kActivated = 0x10, kDetected = 0x20, kDiscardedTask = 0x40;
}  // namespace cancel_bits

// A dependence as tools see it (ompt_dependence_t with ompt_dependence_type_t values).
struct DependenceRecord {
  uint64_t variable;  // an address; for a doacross dependence, the iteration of one of the loops
  int type;  // in 1, out 2, inout 3, mutexinoutset 4, source 5, sink 6, inoutset 7, all-memory out 34, inout 35
};
enum class DoacrossDependence : int { kSource = 5, kSink = 6 };

void thread_begin(uint64_t* thread_data, bool initial);
void thread_end(uint64_t* thread_data);
void parallel_begin(uint64_t* task_data, const ompt::Frame* task_frame, uint64_t* parallel_data, unsigned requested,
                    int flags, const void* codeptr);
void parallel_end(uint64_t* parallel_data, uint64_t* task_data, int flags, const void* codeptr);
void implicit_task(Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, unsigned team_size, unsigned index,
                   int flags);
// label, color: from marline_task_label and marline_task_color; a tool may ask for them during the callback.
void task_create(uint64_t* parent_data, const ompt::Frame* parent_frame, uint64_t* task_data, int flags,
                 bool has_dependences, const void* codeptr, const char* label, uint32_t color);
// The creation that began with task_create has ended. The task may have ended, too: `task_data` is what its word was
// when task_create returned.
void task_created(uint64_t task_data);
// The producer of a persistent graph begins an iteration, or leaves the graph. Call it only if a tool is present.
struct GraphIteration {
  uint64_t graph;       // a number that no other graph of the process has
  uint64_t iteration;   // from 1 on; when the graph is left: the last one
  uint32_t unfinished;  // how many of the iterations before may have tasks that have not ended: the last ones
  uint32_t how;         // 0: the graph is left; 1: recorded; 2: replayed by the producer's code; 3: without that code
};
void graph_iteration(uint64_t* producer_data, const GraphIteration& iteration);
void dependences(uint64_t* task_data, const DependenceRecord* list, size_t count);
void task_dependence(uint64_t* predecessor_data, uint64_t* successor_data);
// next_data is null if no other task replaces the prior task (a fulfilment, the end of a dependent taskwait).
void task_schedule(uint64_t* prior_data, TaskStatus status, uint64_t* next_data);
// The current task is about to leave its thread. Called on the task's own stack, before any other task can run on the
// thread.
void suspending();
// What a suspended task waited for has come. Called by the thread that notices it, before another thread can resume the
// task.
void task_ready(uint64_t* task_data);
// flags: cancel_bits: the construct that is cancelled, and whether the task activates or detects the cancellation.
void cancel(uint64_t* task_data, int flags, const void* codeptr);
void sync_region(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, const void* codeptr);
void sync_region_wait(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                      const void* codeptr);
// Emits sync_region and sync_region_wait for a region that only waits: the region's begin comes first and its end last.
void sync_wait_region(SyncRegion kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data,
                      const void* codeptr);

// count: iterations, sections, or 1; 0 at the end of a loop or of sections.
void work(Work kind, Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, uint64_t count,
          const void* codeptr);
// Reports a chunk of iterations. `first`: the number of an iteration, counted from 0.
void dispatch_chunk(Dispatch kind, uint64_t* parallel_data, uint64_t* task_data, uint64_t first, uint64_t iterations);
void dispatch_section(uint64_t* parallel_data, uint64_t* task_data, const void* codeptr);
void masked(Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, const void* codeptr);
void reduction(Endpoint endpoint, uint64_t* parallel_data, uint64_t* task_data, const void* codeptr);

// wait_id: the address of the lock. hint: omp_sync_hint_t.
void lock_init(Mutex kind, unsigned hint, uint64_t wait_id, const void* codeptr);
void lock_destroy(Mutex kind, uint64_t wait_id, const void* codeptr);
void mutex_acquire(Mutex kind, unsigned hint, uint64_t wait_id, const void* codeptr);
void mutex_acquired(Mutex kind, uint64_t wait_id, const void* codeptr);
void mutex_released(Mutex kind, uint64_t wait_id, const void* codeptr);
void nest_lock(Endpoint endpoint, uint64_t wait_id, const void* codeptr);

// The only way in which Marline's locks wait, by the name that mutex_acquire and lock_init use
// (ompt_enumerate_mutex_impls).
inline constexpr unsigned kMutexImplementation = 1;
inline constexpr const char* kMutexImplementationName = "marline_mutex_impl_spin_then_suspend";

void flush(uint64_t* thread_data, const void* codeptr);
// An error directive; the values of severity are the same in omp_severity_t and ompt_severity_t.
void error(int severity, const char* message, size_t length, const void* codeptr);

// omp_control_tool: returns the tool's answer or, without a tool or callback, the value of omp_control_tool_result_t.
int control_tool(uint64_t command, uint64_t modifier, void* argument, const void* codeptr);

// From now on the runtime keeps for a debugger what it keeps for a tool, and calls OMPD's breakpoints. Before the first
// event.
void accept_debugger();

// When the team of a parallel region is there, and its threads have not begun.
inline void debug_parallel_begin() {
  if (debugged()) [[unlikely]] {
    ompd_bp_parallel_begin();
  }
}

// Around the code of a task, while the task is the thread's current one.
inline void debug_task_begin() {
  if (debugged()) [[unlikely]] {
    ompd_bp_task_begin();
  }
}
inline void debug_task_end() {
  if (debugged()) [[unlikely]] {
    ompd_bp_task_end();
  }
}

// In start.cpp: looks for a tool and starts it (OpenMP 5.2, section 19.2), and ends it; called at the runtime's start
// and end.
void initialize();
void finalize();

// The functions that a tool may look up. abi/ompt/inquiry.cpp provides `inquiry`, for functions that need the layers
// above; tool.cpp provides the others.
ompt::SetResult set_callback(int number, ompt::Function function);
ompt::Function get_callback(int number);
// The observer gets the memory of threads' copies of task reduction variables before it is used (reduction_copies).
void observe_copies(void (*observer)(const void* memory, size_t bytes));
void reduction_copies(const void* memory, size_t bytes);
void observe_suspensions(void (*observer)());  // null: no observer any more
// Of the tool; these end with its callbacks.
void observe_readiness(void (*observer)(ompt::Data* task));
void observe_creations(void (*observer)(ompt::Data task));
void observe_iterations(void (*observer)(ompt::Data* producer, const GraphIteration* iteration));
// Registers the library that is notified of target tasks; false: there is one already. target_observer returns it;
// null: there is none, or it is just being registered.
[[nodiscard]] bool observe_target_tasks(const marline_target_observer* observer);
[[nodiscard]] const marline_target_observer* target_observer();
void trace_runs(int more);  // changes the number of traced devices by `more`
void accept_callbacks();    // a tool is initialising itself
void forget_callbacks();
void leave();  // the process has no tool from now on
// Called around a fork, so that no other thread is registering a callback or is within the trace of a device. The child
// has no traces, and its devices have no events for the tool: the parent gives back the buffers.
void before_fork();
void after_fork_in_parent();
void after_fork_in_child();
void registration_lock();  // the part of these three functions that is in tool.cpp
void registration_unlock();
bool created_task_info(const char** label, uint32_t* color);  // for the task with a task_create callback under way
ompt::Function inquiry(const char* name);

}  // namespace marline::tool
