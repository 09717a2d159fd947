// SPDX-License-Identifier: Apache-2.0
//
// The environment variables that the runtime uses. They are read when the library is loaded and before its first use,
// and are constant once there is a second thread, so every thread may read them without synchronisation. One table
// lists the variables, their defaults and their meaning (option_table.cpp); the parser, the OMP_DISPLAY_ENV output and
// docs/options.md are made from it. If a value is unusable, one line reports it and the default is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/allocator_choice.hpp"

namespace marline {

// The values of omp_sched_t (OpenMP 5.1, 3.2.11), without the monotonic bit. kTrapezoidal is LLVM's, and here the same
// as kGuided.
enum class LoopSchedule : int { kStatic = 1, kDynamic = 2, kGuided = 3, kAuto = 4, kTrapezoidal = 101 };
enum class ScheduleModifier : int { kNone, kMonotonic, kNonmonotonic };  // as given

// The values of omp_proc_bind_t (OpenMP 5.1, 3.3.1). kBound: OMP_PROC_BIND=true: threads are bound, and the runtime
// chooses how. kInOrder is not visible to programs: thread i at the i-th place, cyclically (KMP_AFFINITY,
// GOMP_CPU_AFFINITY).
enum class ProcBind : int { kUnbound = 0, kBound = 1, kPrimary = 2, kClose = 3, kSpread = 4, kInOrder = 5 };

// The source of the list of places: OMP_PLACES, or another runtime's variable (config/foreign_table.hpp).
enum class AffinityKind : int { kPlaces, kCompact, kScatter, kBalanced, kList };
// Corresponds to Level (platform/topology/topology.hpp).
enum class Granularity : int { kThread, kCore, kCache, kNuma, kSocket };

enum class WaitPolicy : int { kAuto, kActive, kPassive };
enum class TargetOffload : int { kMandatory, kDisabled, kDefault };
enum class DisplayEnv : int { kOff, kOn, kVerbose };
enum class SchedulePolicy : int { kLifo, kFifo, kRandom };
// The meaning of priorities: the three parameters of MARLINE_PRIORITY.
enum class PriorityValue : int { kZero, kInf, kCopy };
enum class Propagation : int { kNone, kEqual, kDecrement };
enum class BarrierKind : int { kAuto, kFlat, kTree };
// The threads that share a queue: kCore: none (each thread has its own deque); otherwise the threads within one such
// object.
enum class QueueLevel : int { kCore, kCache, kNuma, kSocket, kMachine };
inline constexpr int kPlaceableClasses = 3;  // new, successor, untied: the first of QueueClass (sched/locality.hpp)
enum class HashFunction : int { kMix, kXor62, kXor032, kDiv8, kLookup2 };

// A special device number: the library that has the devices chooses the device (task/default_device.hpp).
inline constexpr int kChosenByDevices = -3;

struct Options {
  // Of the lists with one entry per nesting level; deeper levels use the last entry.
  static constexpr int kMaxLevels = 16;

  // Up to this number of priorities, each has its own position in the order (task/priority_bucket.hpp).
  static constexpr int kExactPriorities = 4096;

  static constexpr uint32_t kLineageBytes = 48;   // sizeof(Lineage)
  static constexpr uint32_t kToolTailBytes = 72;  // sizeof(ToolTail), exec/worker/frames.hpp

  static constexpr int64_t kInfinite = 1'000'000'000'000'000;  // microseconds

  // Options of OpenMP.
  int num_threads[kMaxLevels];
  int num_threads_count;  // 0: not given; then one thread per core (options_set_default_threads)
  bool dynamic;
  LoopSchedule schedule_kind;
  ScheduleModifier schedule_modifier;
  int schedule_chunk;  // 0: none given
  bool nested;
  int max_active_levels;  // resolved: from OMP_MAX_ACTIVE_LEVELS, OMP_NESTED, or the lists' lengths
  static constexpr int kNoThreadLimit = INT32_MAX;
  int thread_limit;  // of each contention group; kNoThreadLimit: no limit
  // OMP_THREADS_RESERVE; kAllThreads: as many as the thread limit allows.
  static constexpr int kAllThreads = -1;
  int reserved_structured, reserved_agents;
  size_t stacksize;  // bytes
  WaitPolicy wait_policy;
  ProcBind proc_bind[kMaxLevels];
  int proc_bind_count;  // at least 1 once parsed
  const char* places;   // as given; empty if not given. Read by platform/topology/places
  DisplayEnv display_env;
  bool display_affinity;
  const char* affinity_format;
  bool cancellation;
  int max_task_priority;
  int default_device;               // or kChosenByDevices
  const char* default_device_list;  // with kChosenByDevices: the list of numbers and traits; null if nothing is given
  TargetOffload target_offload;
  AllocatorChoice allocator;
  bool tool;
  const char* tool_libraries;
  const char* tool_verbose_init;
  bool debug;
  int num_teams;           // 0: not given
  int teams_thread_limit;  // 0: not given

  // Options of other runtimes.
  int process_threads;  // KMP_DEVICE_THREAD_LIMIT: most threads of the process; 0: no limit
  bool warnings;        // KMP_WARNINGS
  bool settings;        // KMP_SETTINGS
  static constexpr int kSerial = 1;
  // KMP_LIBRARY, with the values of kmp_set_library: kSerial, 2 turnaround; 0: not given.
  int library;
  struct Affinity {
    AffinityKind kind;
    Granularity granularity;  // of kCompact, kScatter and kBalanced
    int permute;              // number of machine levels with reversed order of significance
    int offset;               // place of thread 0
    // With kList: the list's text, perhaps followed by other text (config/cpu_list.hpp).
    const char* list;
  } affinity;

  // Marline's own options.
  struct Schedule {
    SchedulePolicy policy;
    uint64_t seed;
  } schedule;
  struct Priority {
    bool given;  // MARLINE_PRIORITY is given: it switches priorities on
    PriorityValue value;
    Propagation propagation;
    bool asynchronous;
    // Resolved, from the fields above and OMP_MAX_TASK_PRIORITY:
    bool on;                 // priorities have an effect
    bool exact;              // no task's priority exceeds the number of buckets (task/priority_bucket.hpp)
    uint32_t lineage_bytes;  // of each task, if priorities propagate; otherwise 0
    bool profiles;           // the runtime recognises tasks that send (graph/profile.hpp)
    bool propagates;         // tasks keep their predecessors (graph/lineage.hpp)
  } priority;
  int64_t spin_us;  // -1: automatic
  int max_ready;    // throttling (exec/worker/throttle.hpp); 0: no limit, also in the next two fields
  int max_tasks;
  size_t max_bytes;
  bool strict_constraint;
  uint32_t watchdog;       // microseconds; 0: off
  size_t fiber_stacksize;  // bytes; resolved
  int64_t max_fibers;
  bool progress_points;  // poll at scheduling points
  bool progress_idle;    // idle workers poll
  bool progress_strong;  // the watchdog polls
  BarrierKind barrier;
  QueueLevel queues[kPlaceableClasses];
  bool shared_queues;  // at least one of `queues` is above kCore
  struct EdgeFilters {
    bool duplicate;
    bool transitive;
    bool inoutset;
  } edges;
  HashFunction hash;     // of addresses, in dependence tables
  bool discover_first;   // MARLINE_DISCOVERY=first
  bool simple_creation;  // resolved: no option is set for which a new task needs more than being queued or run
  // A tool has been started: explicit tasks have room for a tool's data (exec/worker/frames.hpp).
  bool tool_started;
  // Resolved: bytes at the end of each task, for tools and for priorities.
  uint32_t task_tail_bytes;
  bool counters;        // print the counters at exit
  bool inspect;         // answer `marline ps`
  int64_t ready_limit;  // resolved: max_ready, or a number that is never reached
};

// The options in force. All zero before options_init (config/read_options.hpp).
const Options& options();

// The same, for config/read_options.cpp alone.
Options& options_to_write();

}  // namespace marline
