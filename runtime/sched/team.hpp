// SPDX-License-Identifier: Apache-2.0
//
// Worker, Team and Member: a thread that runs tasks, the threads of a parallel region, and a thread's place in a team.
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
#include "base/parker.hpp"
#include "base/spin_lock.hpp"
#include "platform/fp_control.hpp"
#include "sched/deque.hpp"
#include "sched/priority.hpp"
#include "sched/this_worker.hpp"
#include "sched/thief.hpp"
#include "sched/tied_waits.hpp"
#include "sched/worker_parts.hpp"
#include "task/discovery_counters.hpp"
#include "task/task.hpp"
#include "task/workshare.hpp"
#include "tool/tool.hpp"

#include <cstdint>

struct marline_construct;  // devices.h

namespace marline {

struct Doacross;
struct FreeAgent;  // sched/pool_tasks.hpp
struct Locality;   // sched/locality.hpp
struct Member;
struct NextTask;
struct SharedQueue;          // sched/locality.hpp
struct ThreadCounts;         // construct/parallel/thread_counts.hpp
struct ThreadprivateCopies;  // exec/team/threadprivate.hpp
class LeftFrames;            // sched/constraint.hpp
// The most threads in a team; a region that asks for more gets this many, with a warning.
inline constexpr int kMaxTeam = 1024;
using TaskFifo = Fifo<Task, &Task::next>;
using TaskStack = MpscStack<Task, &Task::next>;

struct alignas(kCacheLine) Worker {
  // Owner only.
  Task* task = nullptr;      // the current task; null only while the thread is between regions
  Member* member = nullptr;  // the thread's Member in the current task's team
  Fiber* fiber = nullptr;    // the fiber that the thread is on
  SlabPool* pool = nullptr;  // task descriptors
  // The properties set for the next task to be created (construct/task/next_task.hpp); mostly null
  NextTask* next_task = nullptr;
  Member* memberships = nullptr;
  SpareFibers spares;
  int id = 0;  // small, unique among living workers: the "global thread number" of the KMP interface
  // random: for victims, and all choices under MARLINE_SCHEDULE=random.
  uint32_t random = 1, poll_countdown = 0;
  WaitingBeside beside;
  Thief thief;
  CallContext context;
  bool root = false;  // a thread of the program, not one that the runtime created
  TaskFifo resumed;   // taken from `inbox`, oldest first
  TaskFifo yielded;   // tied tasks that yielded; taken after all other tasks
  // Alternates between `yielded` and Member::yielded, so that each is served.
  bool yielded_turn = false;
  CompletionReports reports;
  AncestorSweep sweep;
  NextTask* spare_next_task = nullptr;  // an empty record for `next_task`
  Task* spare_tasks = nullptr;          // descriptors of undeferred tasks that have ended (abi/gomp/in_place.hpp)
  Throttling throttling;
  KernelThread thread;
  Team* hot_team = nullptr;  // of a root worker: kept from region to region
  WorkerNesting nesting;
  LeftFrames* left_frames = nullptr;  // only with MARLINE_TASK_CONSTRAINT=strict (sched/constraint.hpp)
  ToolView tool_view;
  InView shown_state;
  PushedClauses pushed;
  ThreadCounts* own_thread_counts = nullptr;
  ThreadBinding binding;
  ThreadprivateCopies* threadprivate = nullptr;  // null: none yet
  DiscoveryCounters discovery;                   // written by the owner, read by any thread
  Worker* created_before = nullptr;              // link in the list of all workers (exec/worker/worker.cpp)
  // Ready tasks that MARLINE_DISCOVERY=first holds back (sched/held.hpp).
  TaskFifo held;

  // Written by other threads, too.
  alignas(kCacheLine) TaskStack inbox;  // suspended tasks that only this worker may resume
  TiedWaits tied_waits;                 // times of the tasks in `inbox`
  Atomic<uint32_t> announced{0};        // 1: about to sleep or asleep (sched/idle.cpp)
  Parker parker;
  alignas(kCacheLine) Atomic<Team*> job{nullptr};  // pool workers: the team in whose next region the worker takes part
  int job_index = 0;                               // written before `job`, read after it
  // Jobs that the worker has got and not left yet: 2 if the next region starts while the worker still leaves the last
  // one.
  Atomic<uint32_t> in_region{0};
  // 1: in the pool's list, without a team (exec/worker/worker.cpp). Written under the list's lock, read by the thread;
  // orders no other data.
  Atomic<uint32_t> in_pool{0};
  Worker* next = nullptr;  // link in the lists of idle and of retired workers
  // Of a thread of the pool that has run tasks outside of its teams (sched/pool_tasks.hpp); owner only.
  FreeAgent* agent = nullptr;
};

// The pool for freeing memory; `worker`: the calling thread's, or null.
inline SlabPool* pool_of(Worker* worker) { return worker != nullptr ? worker->pool : nullptr; }

// The barrier at which a thread waits for its team: a value of tool::SyncRegion, or none. kEnd: the barrier at the
// region's end.
enum class AtBarrier : int {
  kNot = 0,
  kEnd = static_cast<int>(tool::SyncRegion::kBarrierImplicitParallel),
  kImplementation = static_cast<int>(tool::SyncRegion::kBarrierImplementation),
};

// A word of a doacross loop's posts, and a value that it has had (construct/workshare/doacross.cpp).
struct SeenPosts {
  const Atomic<uint64_t>* word = nullptr;
  uint64_t value = 0;
};

struct alignas(kCacheLine) Member {
  Worker* worker = nullptr;
  Team* team = nullptr;
  int index = 0;  // omp_get_thread_num
  // Assigned by the binding policy; -1: none.
  int place = -1;
  // place-partition-var: a part of the place list; without places: the partition of the region around.
  int partition_first = 0;
  int partition_count = 0;
  Member* next_membership = nullptr;  // Worker::memberships
  // Only the worker's own.
  uint64_t workshares_entered = kWorkshares;  // number of the next worksharing construct
  WorkshareBlock* block = nullptr;            // that of the construct before; null: there was none
  uint64_t singles_entered = 0;
  // In a cancelled region: set from copyprivate to the barrier after it (construct/workshare/single.hpp)
  bool copies = false;
  bool won_single = false;  // it has run the last `single` that it came to: a guess for the next one
  // For tools: a thread other than 0 that has come to the region's end. Once the last thread arrives there, the tasks
  // around the region may end at any time.
  bool is_leaving = false;
  LoopPlace loop;  // the loop that the thread is in (construct/workshare/loop.cpp)
  // The nest in which the loop's iterations post, or null (construct/workshare/doacross.cpp).
  Doacross* doacross = nullptr;
  // The words of that nest's posts that the thread last wrote, and last waited for, with the values that they had then.
  SeenPosts posted, awaited;
  // A construct of which the compiler does not report the end (exec/worker/announce.hpp).
  tool::Work open_work = tool::Work::kNone;
  const void* open_work_codeptr = nullptr;
  ompt::Frame frame = {};                  // of the implicit task, for tools (exec/worker/frames.hpp)
  marline_construct* construct = nullptr;  // of the implicit task, for tools
  // Of the region, for the barrier at its end: by then the team may be in its next region.
  const void* region_codeptr = nullptr;
  // Read by the last thread to arrive at the barrier (exec/team/region_cancellation.cpp) and by `marline ps`.
  AtBarrier at_barrier = AtBarrier::kNot;
  // Team::epoch when this thread arrived at the barrier; the barrier is over when the epoch changes. Only this thread
  // uses it.
  uint64_t barrier_epoch = 0;
  // The thread has left a cancelled region: it goes to the region's end, and to no other construct. Written by the
  // thread, cleared at the region's end, read by threads that wait for its part of a worksharing construct.
  Atomic<bool> absent{false};
  Icvs icvs{};  // of the implicit task
  Task implicit_task{};
  Deque deque;                           // ready tasks; the owner's end is LIFO
  SharedQueue* const* shared = nullptr;  // by QueueClass; null: none (sched/locality.hpp)
  const int16_t* victims = nullptr;      // in the order of stealing; null: the neighbours
  // Ready tasks with a priority. Null unless options().priority.on; empty until priorities_in_use().
  PriorityQueue* urgent = nullptr;
  // Tasks that yielded: FIFO, so that every other task runs first. Other members steal from it.
  alignas(kCacheLine) SpinLock yielded_lock;
  TaskFifo yielded;
  Atomic<int32_t> yielded_count{0};
};

// The input of the assignment of places: equal values give equal places; `size` 0: no assignment yet.
struct PlacesGiven {
  int policy = 0, first = 0, count = 0, opener = -1, size = 0;
  bool operator==(const PlacesGiven&) const = default;
};

struct TeamNesting {
  // For a region inside an active region: the threads other than member 0 come from the pool, for one region at a time.
  bool inner = false;
  // Member 0 works for the teams around only while the other members sleep (sched/idle.hpp). Written by member 0 where
  // a region begins, read by all; atomic because threads may still be leaving the region before.
  Atomic<bool> bounds_reach{false};
  // Opened by code that a library has called back; written before the threads get their jobs.
  bool called_back = false;
  // Inner teams: the number of pool threads that have not left the last region; the team is not used again before this
  // is zero.
  Atomic<int32_t> inside{0};
  // For a contention group with a thread limit (construct/parallel/parallel.cpp). group_threads, in the group's initial
  // team: how many threads of the group are in regions. of_group: how many of them are in this team. The initial thread
  // is not counted.
  Atomic<int> group_threads{0};
  int of_group = 0;
};

// The team's queued tasks that threads outside the team may run, too (sched/pool_tasks.hpp). All fields under
// g_pool_lock.
struct PoolTasks {
  TaskFifo tasks;
  Atomic<int32_t> count{0};  // written under the lock, read without it
  Team* next = nullptr;      // links of the list of teams with such tasks
  Team* previous = nullptr;
};

// The list of a num_threads clause that applies in a region: the team's own or that of a surrounding team. Null: none.
struct TeamThreadCounts {
  const ThreadCounts* held = nullptr;
  ThreadCounts* own = nullptr;
};

// The blocks of the team's worksharing constructs (exec/team/workshare_blocks.cpp); under the lock.
struct WorkshareBlocks {
  SpinLock lock;
  WorkshareBlock* oldest = nullptr;  // of those in use, by WorkshareBlock::next; null: there was no construct yet
  WorkshareBlock* unused = nullptr;
  int unused_count = 0;
};

struct alignas(kCacheLine) Team {
  static constexpr int kMaskWords = 16;  // 64 threads each: kMaxTeam
  int size = 1;
  // Number of surrounding nested regions, serialised ones included.
  int level = 0;
  int active_level = 0;
  Member* members = nullptr;
  int capacity = 0;  // members allocated
  Task* parent_task = nullptr;
  Member* parent_member = nullptr;  // the opening thread's place in the team around
  Team* next_free = nullptr;
  Locality* locality = nullptr;
  bool in_use = false;  // hot team: a region is under way
  // OMP_DISPLAY_AFFINITY (exec/view/affinity_display.hpp): the region's threads report their affinity; the places
  // reported last.
  bool display_affinity = false;
  PlacesGiven displayed;
  FpControl fp_control;  // of the thread that opens the region; its members start with it
  Icvs icvs{};           // the implicit tasks start with these values
  TeamThreadCounts thread_counts;
  void (*run_implicit)(Team*, Member*) = nullptr;  // calls the outlined function
  void* microtask = nullptr;
  void** arguments = nullptr;
  int argument_count = 0;
  uint64_t tool_data = 0;  // ompt_data_t of the parallel region
  const void* tool_codeptr = nullptr;
  int tool_flags = 0;  // ompt_parallel_flag_t
  // From which the members' places were computed (exec/team/binding.cpp).
  PlacesGiven places_given;
  const CpuShare* share = nullptr;  // of the thread that opens the region; set where the region begins
  // Hot team: the request (size and proc_bind) for which it was last arranged (exec/team/team.cpp); 0: none.
  int asked = 0;
  TeamNesting nesting;

  // Tasks made ready by a thread outside the team; any member takes them.
  alignas(kCacheLine) TaskStack injected;
  // The members that sleep: bit i of word i / 64 is for member i. Set by the member before its last look, cleared by
  // its waker or by itself (sched/idle.cpp).
  alignas(kCacheLine) Atomic<uint64_t> sleepers[kMaskWords] = {};
  // The same for members that sleep for a short time, which only the barrier's end wakes (sched/idle.hpp).
  Atomic<uint64_t> resting[kMaskWords] = {};
  // When a member was woken (cycles()) that has not looked for work yet; 0: there is none (sched/idle.hpp).
  Atomic<uint64_t> wakes_one{0};
  // Whether the member that fell asleep last found fewer cores than threads; orders nothing.
  Atomic<bool> crowded{false};

  alignas(kCacheLine) Atomic<uint64_t> epoch{0};  // barriers completed; written by the last thread to arrive
  // At that barrier the region was cancelled, and not all threads were at its end (exec/team/region_cancellation.hpp).
  // Written by the last thread to arrive, before `epoch`; read by all threads before they arrive again.
  bool another_round = false;
  alignas(kCacheLine) Atomic<int32_t> arrived{0};
  // Bits kRegion and kWorkshare: what is cancelled. Set by members, cleared by the last thread to arrive at a barrier.
  static constexpr uint32_t kRegion = 1, kWorkshare = 2;
  Atomic<uint32_t> cancelled{0};
  // Number of times that a member has begun to stay away, over all regions (construct/sync/cancel.hpp).
  Atomic<uint64_t> departures{0};
  // As Taskgroup::kept, for tasks that were not run because the region is cancelled.
  Atomic<Task*> kept{nullptr};
  struct alignas(kCacheLine) TreeNode {
    Atomic<int32_t> arrived{0};
  };
  // For large teams: the arrivals at each inner node, level by level (exec/team/barrier.cpp).
  TreeNode* tree = nullptr;
  alignas(kCacheLine) Atomic<uint64_t> singles{0};  // `single` constructs that a thread has taken
  // One for `single` constructs with an even number, one for an odd number (construct/workshare/single.cpp)
  void* copyprivate[2] = {};
  // The members' counts of constructs continue from region to region, so that no block need be cleared.
  uint64_t first_workshare = 0;  // numbers of the region's first constructs: all members start from member 0's
  uint64_t first_single = 0;
  WorkshareBlock* first_block = nullptr;  // Member::block, where the region begins
  WorkshareBlocks blocks;
  // Ready tasks that the workers that found them must not start (sched/constraint.hpp); any member.
  SpinLock deferred_lock;
  TaskFifo deferred;
  Atomic<int32_t> deferred_count{0};
  PoolTasks pool_tasks;
};

}  // namespace marline
