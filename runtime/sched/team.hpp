// SPDX-License-Identifier: Apache-2.0
//
// Worker, Team and Member: a thread that runs tasks, the threads of a parallel region, and one thread's place among
// them.
//
//   Worker   one kernel thread that the runtime knows; owned by that thread
//   Team     the threads of one parallel region, and of its tasks; owned by the worker that opened the region
//   Member   one thread's place in one team: its queues and its implicit task. A worker may have several at a time
//            (a region inside a region): `Worker::memberships` lists them, innermost first
//
// Tasks are bound to a team (OpenMP 5.2, section 12.1): they are queued at a Member of this team and run only by its
// Members.
#pragma once

#include "base/atomic.hpp"
#include "base/intrusive.hpp"
#include "base/memory/slab.hpp"
#include "base/spin_lock.hpp"
#include "platform/topology/cpu_mask.hpp"
#include "platform/fp_control.hpp"
#include "sched/deque.hpp"
#include "sched/locality.hpp"
#include "sched/parker.hpp"
#include "sched/priority.hpp"
#include "sched/this_worker.hpp"
#include "sched/tied_waits.hpp"
#include "task/discovery_counters.hpp"
#include "task/task.hpp"
#include "task/workshare.hpp"
#include "tool/tool.hpp"

#include <cstdint>

struct marline_wait;       // marline.h
struct marline_construct;  // devices.h

namespace marline {

struct Doacross;
struct Member;
struct NextTask;
struct ThreadCounts;                   // construct/parallel/thread_counts.hpp
struct ThreadprivateCopies;            // exec/team/threadprivate.hpp
class LeftFrames;                      // sched/constraint.hpp
inline constexpr int kMaxTeam = 1024;  // threads in one team; a region that asks for more gets these, with a warning
using TaskFifo = Fifo<Task, &Task::next>;
using TaskStack = MpscStack<Task, &Task::next>;

// Worker::place of a thread that is bound to none: the runtime has not done so, or the program has bound it elsewhere.
inline constexpr int kNoPlace = -1, kElsewhere = -2;

// What a thread waits for, for tools (exec/worker/announce.hpp). No task: nothing.
struct ThreadWait {
  const Task* task = nullptr;
  ompt::State state = ompt::State::kIdle;
  uint64_t wait_id = 0;
};

// marline_taskloop_depend: gives dependences to each task of the next taskloop of `owner`
// (construct/task/taskloop.hpp).
struct ChunkDepend {
  void (*call)(uint64_t first, uint64_t count, void* argument) = nullptr;
  void* argument = nullptr;
  const Task* owner = nullptr;
};

// CPUs that a library gives to one of its devices (exec/team/binding.hpp).
struct CpuShare {
  CpuMask cpus;
  CpuMask around;  // those of the thread that took the share, before it did
  int threads;     // nthreads-var in target regions
};

// What `marline ps` (exec/view/inspect.cpp) and debuggers (tools/gdb/marline.py) want to know of a thread; written by
// it.
struct InView {
  Fiber* own_fiber = nullptr;             // the fiber of the thread's own stack
  const marline_wait* blocked = nullptr;  // the library call that blocks the thread (exec/worker/blocked.hpp)
  int block_depth = 0;
  int thread = 0;                               // the kernel's number of it; 0: it has ended
  uint64_t suspensions = 0;                     // of tasks, and library calls that block, by this thread
  int displayed_level = 0, displayed_size = 0;  // OMP_DISPLAY_AFFINITY told last; the region's opener
};

// What a worker has for regions inside others (docs/design/nested-teams.md). Its own, but for `goes_round`.
struct WorkerNesting {
  Team* free_serial = nullptr;  // teams of one thread, for serialised regions
  Team* free_inner = nullptr;   // for regions inside active ones; threads may still be leaving (TeamNesting::inside)
  int open_inner = 0;           // inner teams whose member 0 it is and whose regions have not ended
  bool owes_wakeup = false;     // woken for a team that it may no longer work for (sched/idle.hpp)
  Atomic<uint32_t> goes_round{
      0};  // 1: all that it has are frames that wait, and it tries them in turn; read by its teams
};

// How a worker that waits gets on with others on its core (exec/worker/schedule_loop.cpp, give_way).
struct WaitingBeside {
  uint32_t waits_asleep = 0;   // waits to come without spinning
  uint32_t sleep_length = 0;   // what waits_asleep was set to the last time ...
  uint32_t undisturbed = 0;    // ... and how many waits were begun since then
  uint32_t shared_yields = 0;  // in a row, in which somebody ran
  uint64_t keeps_core_until = 0;
  uint32_t rests_later = 0;  // rises by rests between polls that prove too long, falls by others (schedule_loop.cpp)
};

// Clauses that the KMP face announces before the construct they belong to.
struct PushedClauses {
  int32_t num_threads = 0;
  int32_t proc_bind = 0;
  int32_t num_teams_lower = 0, num_teams = 0, thread_limit = 0;
  const ThreadCounts* thread_counts = nullptr;  // num_threads with a list or with `strict`; its first number is above
  // Of an undeferred task with a detach clause, before it begins (abi/kmp/task/task.cpp): there is one; its
  // dependences.
  bool detaches = false;
  KeptDependences* kept = nullptr;
};

// What the creator of a pool thread has found for it: a thread that has been started must not run out of memory before
// it runs, and asks malloc for nothing (base/memory/shared_pool.hpp).
struct ThreadBeginning {
  SlabPool::Place pool;
  char* stack_low = nullptr;  // the thread's own stack; null: it asks
  char* stack_high = nullptr;
  Atomic<bool> stack_known{false};  // set by the creator after the start of the thread, which waits for it
};

struct alignas(kCacheLine) Worker {
  // Owner only.
  Task* task = nullptr;      // the current task; null only while the thread is between regions
  Member* member = nullptr;  // the place in the current task's team
  Fiber* fiber = nullptr;    // the fiber that the thread is on
  SlabPool* pool = nullptr;  // task descriptors
  // What was said of the next task to be created (construct/task/next_task.hpp); mostly null
  NextTask* next_task = nullptr;
  Member* memberships = nullptr;
  Fiber* spares = nullptr;                // idle fibers kept by this worker (exec/fiber/fiber.cpp)
  int spare_count = 0, place = kNoPlace;  // place: that the thread is bound to
  int id = 0;  // small, unique among living workers: the "global thread number" of the KMP interface
  uint32_t random = 1, poll_countdown = 0;  // random: for victims, and every choice under MARLINE_SCHEDULE=random
  WaitingBeside beside;
  bool in_hook = false, root = false;  // root: a thread of the program's, not one of ours
  bool called_back = false;  // works for code that a library calls back (exec/team/callback.cpp): does not poll
  bool shows_task =
      false;  // an observer is looking at a target task (construct/task/observed.cpp), and may call its code
  bool keeps_task = false;    // the task must not be suspended where it can wait otherwise (exec/worker/suspend.cpp)
  TaskFifo resumed;           // taken from `inbox`, oldest first
  TaskFifo yielded;           // tied tasks that yielded: after everything else
  bool yielded_turn = false;  // alternates between `yielded` and Member::yielded, so that neither starves the other
  // Completions that the parent has not been told yet (exec/worker/completion.cpp).
  Task* reported_parent = nullptr;
  Taskgroup* reported_group = nullptr;
  uint64_t reported_count = 0;
  uint32_t until_sweep = 0, sweep_random = 0;  // exec/worker/ended_ancestors.cpp
  NextTask* spare_next_task = nullptr;         // an empty record for `next_task`
  ChunkDepend chunk_depend;
  // Throttling (exec/worker/throttle.hpp). The limits are looked at when Task::created has all of these bits.
  uint32_t throttle_mask = 0;
  uint64_t throttle_patience = 0;  // nanoseconds; 0: not used yet
  bool throttle_in_vain = false;   // the last wait ended because patience did
  FpControl fp_control;            // as the fiber that the thread last left had it (exec/fiber/fiber.cpp)
  // The C++ runtime's exception state of this thread, null until a C++ runtime is seen
  // (exec/fiber/exception_state.cpp).
  void* exception_globals = nullptr;
  int* error_number = nullptr;   // &errno of the thread
  ThreadBeginning beginning;     // of a thread of ours
  void* signal_stack = nullptr;  // the alternate stack that the runtime gave the thread, or null
  Team* hot_team = nullptr;      // of a root worker: kept from region to region
  WorkerNesting nesting;
  uint64_t tool_data = 0;             // ompt_data_t of the thread
  LeftFrames* left_frames = nullptr;  // only with MARLINE_TASK_CONSTRAINT=strict (sched/constraint.hpp)
  ThreadWait wait;                    // only while a tool is there
  bool yields = false;                // likewise: the next change of task is by the current one's taskyield
  InView in_view;
  PushedClauses pushed;
  ThreadCounts* own_thread_counts = nullptr;
  const CpuShare* share = nullptr;               // that the thread is bound to, or none
  ThreadprivateCopies* threadprivate = nullptr;  // null: none yet
  DiscoveryCounters discovery;                   // written by the owner, read by anybody
  Worker* created_before = nullptr;              // link in the list of all workers (exec/worker/worker.cpp)
  TaskFifo held;                                 // ready tasks that MARLINE_DISCOVERY=first keeps back (sched/held.hpp)

  // Others write these.
  alignas(kCacheLine) TaskStack inbox;  // suspended tasks that only this worker may resume
  TiedWaits tied_waits;                 // of these
  Atomic<uint32_t> announced{0};        // 1: about to sleep or asleep (sched/idle.cpp)
  Parker parker;
  alignas(kCacheLine) Atomic<Team*> job{nullptr};  // pool workers: the team whose region to take part in
  int job_index = 0;                               // written before `job`, read after it
  // Jobs given to it that it has not yet left: 2 while the next region starts and it still leaves the last one.
  Atomic<uint32_t> in_region{0};
  // 1: in the pool's list, without a team (exec/worker/worker.cpp). Written under its lock, read by the thread; orders
  // nothing.
  Atomic<uint32_t> in_pool{0};
  Worker* next = nullptr;  // link in the lists of idle and of retired workers
};

// For giving memory back; `worker`: the calling thread's, or null.
inline SlabPool* pool_of(Worker* worker) { return worker != nullptr ? worker->pool : nullptr; }

// At which barrier a thread waits for its team: the values of tool::SyncRegion, or none. kEnd: that of the region's
// end.
enum class AtBarrier : int {
  kNot = 0,
  kEnd = static_cast<int>(tool::SyncRegion::kBarrierImplicitParallel),
  kImplementation = static_cast<int>(tool::SyncRegion::kBarrierImplementation),
};

struct alignas(kCacheLine) Member {
  Worker* worker = nullptr;
  Team* team = nullptr;
  int index = 0;            // omp_get_thread_num
  int place = -1;           // assigned by the binding policy, -1: none
  int partition_first = 0;  // place-partition-var: a part of the place list; of no places: that of the region around
  int partition_count = 0;
  Member* next_membership = nullptr;  // Worker::memberships
  // The worker's own.
  uint64_t workshares_entered = 0;  // number of the next worksharing construct
  uint64_t singles_entered = 0;
  // In a cancelled region, from copyprivate to the barrier behind (construct/workshare/single.hpp)
  bool copies = false;
  LoopPlace loop;                            // the loop that the thread is in (construct/workshare/loop.cpp)
  Doacross* doacross = nullptr;              // what its iterations post, if they do (construct/workshare/doacross.cpp)
  tool::Work open_work = tool::Work::kNone;  // a construct whose end nobody tells (exec/worker/announce.hpp)
  const void* open_work_codeptr = nullptr;
  ompt::Frame frame = {};                  // of the implicit task, for tools (exec/worker/frames.hpp)
  marline_construct* construct = nullptr;  // likewise
  const void* region_codeptr = nullptr;    // the region's, for the barrier at its end, which the team may have outrun
  // Read by the last to arrive at the barrier (exec/team/region_cancellation.cpp) and by `marline ps`.
  AtBarrier at_barrier = AtBarrier::kNot;
  uint64_t barrier_epoch = 0;  // Team::epoch when it came to the barrier, which is over when that moves; its own
  // In a cancelled region, whether the thread stays away from its worksharing constructs: written by it, cleared at the
  // region's end, read by others who wait for what it would do there. kLeft: it goes from a cancellation point to the
  // end of the region. kSkips: it goes on, but has found no slot for a construct, and so takes none for those that
  // follow.
  static constexpr uint32_t kLeft = 1, kSkips = 2;
  Atomic<uint32_t> absence{0};
  Icvs icvs{};  // of the implicit task
  Task implicit_task{};
  Deque deque;                           // ready tasks; the owner's end is LIFO
  SharedQueue* const* shared = nullptr;  // by QueueClass; null: none (sched/locality.hpp)
  const int16_t* victims = nullptr;      // in the order of stealing; null: the neighbours
  PriorityQueue* urgent =
      nullptr;  // ready tasks with a priority; null unless options().priority.on; empty until priorities_in_use()
  // Tasks that yielded: FIFO, so that everybody else gets a turn first. Others steal from it.
  alignas(kCacheLine) SpinLock yielded_lock;
  TaskFifo yielded;
  Atomic<int32_t> yielded_count{0};
};

// Equal ones give equal places; `size` 0: none were given yet.
struct PlacesGiven {
  int policy = 0, first = 0, count = 0, opener = -1, size = 0;
  bool operator==(const PlacesGiven&) const = default;
};

struct TeamNesting {
  bool inner = false;  // of a region inside an active one: its threads but member 0 are the pool's, region by region
  // Member 0 works for the teams around only while the others sleep (sched/idle.hpp). Written by it where a region
  // begins, read by all; atomic because threads may still be leaving the region before.
  Atomic<bool> bounds_reach{false};
  bool called_back = false;  // opened by code that a library has called back; before the threads get their jobs
  // Inner teams: the pool's threads that have not left the last region; nobody uses the team again before it is zero.
  Atomic<int32_t> inside{0};
  // A contention group with a limit (construct/parallel/parallel.cpp): how many threads of it are in regions within its
  // initial team, and in this team; without the initial thread.
  Atomic<int> group_threads{0};
  int of_group = 0;
};

// A num_threads clause's list that holds in a region: the team's own or that of one around. Null: none.
struct TeamThreadCounts {
  const ThreadCounts* held = nullptr;
  ThreadCounts* own = nullptr;
};

struct alignas(kCacheLine) Team {
  static constexpr int kMaskWords = 16;  // 64 threads each: kMaxTeam
  int size = 1;
  int level = 0;  // nested regions around, counting serialised ones
  int active_level = 0;
  Member* members = nullptr;
  int capacity = 0;  // members allocated
  Task* parent_task = nullptr;
  Member* parent_member = nullptr;  // the opener's place in the team around
  Team* next_free = nullptr;
  Locality* locality = nullptr;
  bool in_use = false;  // hot team: a region is under way
  // OMP_DISPLAY_AFFINITY (exec/view/affinity_display.hpp): the region's threads say where they are; what they said
  // last.
  bool display_affinity = false;
  PlacesGiven displayed;
  FpControl fp_control;  // the creator's
  Icvs icvs{};           // that the implicit tasks start with
  TeamThreadCounts thread_counts;
  void (*run_implicit)(Team*, Member*) = nullptr;  // calls the outlined function
  void* microtask = nullptr;
  void** arguments = nullptr;
  int argument_count = 0;
  uint64_t tool_data = 0;  // ompt_data_t of the parallel region
  const void* tool_codeptr = nullptr;
  int tool_flags = 0;               // ompt_parallel_flag_t
  PlacesGiven places_given;         // what the members' places were computed from (exec/team/binding.cpp)
  const CpuShare* share = nullptr;  // of the opener: set where the region begins
  int asked = 0;                    // hot team: for what it was arranged last (exec/team/team.cpp); 0: for nothing
  TeamNesting nesting;

  // Tasks made ready by a thread that is not of the team; any member drains it.
  alignas(kCacheLine) TaskStack injected;
  // Who sleeps: bit i of word i / 64 stands for member i. Set by the member before its last look, cleared by its waker
  // or by itself (sched/idle.cpp).
  alignas(kCacheLine) Atomic<uint64_t> sleepers[kMaskWords] = {};

  alignas(kCacheLine) Atomic<uint64_t> epoch{0};  // barriers completed; written by the last to arrive
  // That barrier met a cancelled region of which not all threads were at the end (exec/team/region_cancellation.hpp).
  // Written by the last to arrive, before `epoch`; read by all before they arrive again.
  bool another_round = false;
  alignas(kCacheLine) Atomic<int32_t> arrived{0};
  // Bits kRegion and kWorkshare: what is cancelled. Set by members, cleared by the last to arrive at a barrier.
  static constexpr uint32_t kRegion = 1, kWorkshare = 2;
  Atomic<uint32_t> cancelled{0};
  Atomic<uint64_t> departures{0};  // members that have begun to stay away, of all regions (construct/sync/cancel.hpp)
  Atomic<Task*> kept{nullptr};     // as Taskgroup::kept, for tasks that were not run because the region is cancelled
  struct alignas(kCacheLine) TreeNode {
    Atomic<int32_t> arrived{0};
  };
  TreeNode* tree = nullptr;  // for large teams: the arrivals at each inner node, level by level (exec/team/barrier.cpp)
  alignas(kCacheLine) Atomic<uint64_t> singles{0};  // `single` constructs that some thread has taken
  // Of `single` constructs with an even and with an odd number (construct/workshare/single.cpp)
  void* copyprivate[2] = {};
  // The members' counts of constructs go on from region to region, so that the ring need not be cleared.
  uint64_t first_workshare = 0;  // numbers of the region's first constructs: all members start from member 0's
  uint64_t first_single = 0;
  Workshare workshares[kWorkshares];
  // Ready tasks that their finders must not start (sched/constraint.hpp); any member.
  SpinLock deferred_lock;
  TaskFifo deferred;
  Atomic<int32_t> deferred_count{0};
};

}  // namespace marline
