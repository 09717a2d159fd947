// SPDX-License-Identifier: Apache-2.0
//
// The parts of a Worker (sched/team.hpp) that belong to one feature each, which the part's comment names. Only the
// worker's thread uses them, unless a member says otherwise.
#pragma once

#include "base/atomic.hpp"
#include "base/memory/slab.hpp"
#include "platform/topology/cpu_mask.hpp"
#include "platform/fp_control.hpp"
#include "task/task.hpp"
#include "tool/tool.hpp"

#include <cstdint>

struct marline_wait;  // marline.h

namespace marline {

struct Team;
struct ThreadCounts;  // construct/parallel/thread_counts.hpp

// What a thread waits for, for tools (exec/worker/announce.hpp). Without a task: it does not wait.
struct ThreadWait {
  const Task* task = nullptr;
  ompt::State state = ompt::State::kIdle;
  uint64_t wait_id = 0;
};

// What tools know of the thread. Only `data` is set without a tool.
struct ToolView {
  uint64_t data = 0;  // ompt_data_t of the thread
  ThreadWait wait;
  bool yields = false;  // the next change of task comes from a taskyield of the current one
  // The region that the thread opens or closes, while that is reported; for debuggers.
  Team* region = nullptr;
};

// CPUs that a library gives to one of its devices (exec/team/binding.hpp).
struct CpuShare {
  CpuMask cpus;
  CpuMask around;  // the CPUs of the thread that took the share, before it did
  int threads;     // nthreads-var in target regions
};

// Values of ThreadBinding::place for a thread that is not bound to a place: the runtime has not bound it, or the
// program has bound it elsewhere.
inline constexpr int kNoPlace = -1, kElsewhere = -2;

// To which CPUs the thread is bound (exec/team/binding.hpp).
struct ThreadBinding {
  int place = kNoPlace;
  const CpuShare* share = nullptr;  // null: none
};

// The state of a thread that `marline ps` (exec/view/inspect.cpp) and debuggers (tools/gdb/marline.py) read; written by
// the thread.
struct InView {
  Fiber* own_fiber = nullptr;             // the fiber of the thread's own stack
  const marline_wait* blocked = nullptr;  // the library call that blocks the thread (exec/worker/blocked.hpp)
  int block_depth = 0;
  int thread = 0;            // its number in the kernel; 0: it has ended
  uintptr_t handle = 0;      // its pthread_t, for debuggers
  uint64_t suspensions = 0;  // suspensions of tasks by this thread, and library calls that block it
  // For OMP_DISPLAY_AFFINITY, in the thread that opens the region: the level and size reported last.
  int displayed_level = 0, displayed_size = 0;
};

// A worker's data for nested regions (docs/design/nested-teams.md). Only the worker's own, except `polls_in_turn`.
struct WorkerNesting {
  Team* free_serial = nullptr;  // teams of one thread, for serialised regions
  // For regions inside active regions; threads may still be leaving such a team (TeamNesting::inside).
  Team* free_inner = nullptr;
  // Number of inner teams with an unfinished region of which this worker is member 0.
  int open_inner = 0;
  bool must_wake = false;  // it was woken for a team for which it may no longer work (sched/idle.hpp)
  // 1: the worker has only waiting frames, and polls them in turn; read by its teams.
  Atomic<uint32_t> polls_in_turn{0};
};

// How a waiting worker shares its core with other threads (exec/worker/schedule_loop.cpp, give_way).
struct WaitingBeside {
  // How many of the next waits begin without spinning.
  uint32_t waits_asleep = 0;
  // The last value that waits_asleep was set to.
  uint32_t sleep_length = 0;
  // Number of waits begun since then.
  uint32_t undisturbed = 0;
  // Number of yields in a row after each of which another thread has run.
  uint32_t shared_yields = 0;
  uint64_t keeps_core_until = 0;
  // Where the worker rests between polls: how often the shortest rest is doubled. A rest begins only when polls have
  // been in vain so long that it would last at least that time. Raised when the first poll after a rest finds so many
  // operations ended that the device may have run out of work; lowered by one after any other rest (judge_rest in
  // schedule_loop.cpp).
  uint32_t rests_later = 0;
};

// marline_taskloop_depend: gives dependences to each task of the next taskloop of `owner`
// (construct/task/taskloop.hpp).
struct ChunkDepend {
  void (*call)(uint64_t first, uint64_t count, void* argument) = nullptr;
  void* argument = nullptr;
  const Task* owner = nullptr;
};

// What a program's code gives before the construct to which it belongs: the KMP face's clauses, and
// marline_taskloop_depend.
struct PushedClauses {
  int32_t num_threads = 0;
  int32_t proc_bind = 0;
  int32_t num_teams_lower = 0, num_teams = 0, thread_limit = 0;
  const ThreadCounts* thread_counts = nullptr;  // num_threads with a list or with `strict`; its first number is above
  // For an undeferred task with a detach clause, before it begins (abi/kmp/task/task.cpp): the clause is there; the
  // task's dependences.
  bool detaches = false;
  KeptDependences* kept = nullptr;
  ChunkDepend chunk_depend;
};

// What the creator of a pool thread has allocated for it: a thread that has been started must not run out of memory
// before it runs, and does not call malloc (base/memory/shared_pool.hpp).
struct ThreadBeginning {
  SlabPool::Place pool;
  char* stack_low = nullptr;  // the thread's own stack; null: the thread determines it
  char* stack_high = nullptr;
  // Set by the creator after the start of the thread, which waits for it.
  Atomic<bool> stack_known{false};
};

// The kernel's thread, and what each fiber on it finds there (exec/fiber).
struct KernelThread {
  FpControl fp_control;  // the floating-point control of the fiber that the thread left last (exec/fiber/fiber.cpp)
  // The C++ runtime's exception state of this thread, null until a C++ runtime is seen
  // (exec/fiber/exception_state.cpp).
  void* exception_globals = nullptr;
  int* error_number = nullptr;   // &errno of the thread
  ThreadBeginning beginning;     // of a thread that the runtime created
  void* signal_stack = nullptr;  // the alternate signal stack that the runtime gave the thread, or null
};

// Idle fibers kept by a worker (exec/fiber/fiber.cpp).
struct SpareFibers {
  Fiber* first = nullptr;
  int count = 0;
};

// From where the thread's current code has been called, if that restricts what the thread may do.
struct CallContext {
  bool in_hook = false;  // by a progress hook
  // Works for code that a library has called back (exec/team/callback.cpp): does not poll.
  bool called_back = false;
  // An observer is examining a target task (construct/task/offers.cpp), and may call the task's code.
  bool shows_task = false;
  // The current task must not be suspended if it can wait in another way (exec/worker/suspend.cpp).
  bool keeps_task = false;
};

// Completions that have not been added to the parent's counts yet (exec/worker/completion.cpp).
struct CompletionReports {
  Task* parent = nullptr;
  Taskgroup* group = nullptr;
  uint64_t count = 0;
};

// When the worker looks for ended ancestors again (exec/worker/ended_ancestors.cpp).
struct AncestorSweep {
  uint32_t left = 0, random = 0;
};

// The limits of created tasks (exec/worker/throttle.hpp), which are checked when Task::created has all bits of the
// mask.
struct Throttling {
  uint32_t mask = 0;
  uint64_t patience = 0;  // nanoseconds; 0: not used yet
  bool in_vain = false;   // the last wait ended because `patience` was used up
};

}  // namespace marline
