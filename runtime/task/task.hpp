// SPDX-License-Identifier: Apache-2.0
//
// Task: the descriptor that all parts of the runtime pass to each other. A single allocation holds this descriptor,
// then the compiler's own block (kmp_task_t or GCC's argument block), then inline edges. Implicit tasks use the same
// descriptor, inside Member.
//
// Which thread may access which fields:
//   creator, until the task is made ready      every field
//   graph side (the thread that runs the parent)   `table_references`, `last_successor`
//   any thread that completes a predecessor    `predecessors`; later any thread that releases a hold
//   any thread that completes a child          `children`
//   the thread that runs the task              `created`, `icvs`, `table`, `label`-to-be of children, `flags`
//   the thread that popped it from a queue     `next`, `fiber`
//
// The word `children` has two counts in one atomic: the children that have not completed (taskwait waits for them), and
// the children with a subtree that has not ended (barriers wait for them). The running task counts the children that it
// creates in `created`, without an atomic, and adds them to the word ("settles") only when it must know the count.
// Until then completions may drive the word below zero. This is harmless: a thread acts on the word only if a flag is
// set, and only the settling operation sets a flag. Exactly one completion brings a settled count to zero, and the
// thread of that completion acts.
#pragma once

#include "base/atomic.hpp"
#include "base/memory/prefetch.hpp"
#include "task/event.hpp"
#include "task/icvs.hpp"

#include <cstddef>
#include <cstdint>

namespace marline {

struct DependenceLengths;
struct DependenceTable;
struct Edge;
struct EdgeChunk;
struct ExclusionList;
inline constexpr size_t kEdgeBytes = 2 * sizeof(void*);  // graph/successors.hpp
struct Fiber;
struct Gate;
struct GraphNode;
struct KeptDependences;
struct Task;
struct Taskgroup;
struct Team;
struct Worker;
}  // namespace marline

struct marline_target_task;  // devices.h

namespace marline {

namespace task_flag {
inline constexpr uint32_t kTied = 1u << 0;
inline constexpr uint32_t kFinal = 1u << 1;       // its descendants are included tasks
inline constexpr uint32_t kUndeferred = 1u << 2;  // its creator waits for it
inline constexpr uint32_t kImplicit = 1u << 3;
inline constexpr uint32_t kEmpty = 1u << 4;     // a node of the graph without a body (graph/dependences.cpp)
inline constexpr uint32_t kDetach = 1u << 5;    // completes when its body has ended and `event` is fulfilled
inline constexpr uint32_t kBodyDone = 1u << 6;  // the body has ended; the completion is still to come
inline constexpr uint32_t kRequeued = 1u << 7;  // Clang's untied task has asked to be run again, for its next part
// The same bit, with kEmpty and until the task is ready: `gate` is set (graph/transparent_scope.hpp).
inline constexpr uint32_t kGated = kRequeued;
inline constexpr uint32_t kInTable = 1u << 8;  // the task is in a dependence table, and `references` counts
inline constexpr uint32_t kGraph = 1u << 9;    // the graph fields below are initialised
inline constexpr uint32_t kMergeable = 1u << 10;
inline constexpr uint32_t kHolds = 1u << 11;    // `predecessors` counts the holds on the task (exec/worker/hold.hpp)
inline constexpr uint32_t kPinned = 1u << 12;   // the task holds a copy of a reduction, and so stays on its thread
inline constexpr uint32_t kOwnIcvs = 1u << 13;  // `icvs` points to the task's own copy (task/own_icvs.hpp)
inline constexpr uint32_t kLabelled = 1u << 14;
inline constexpr uint32_t kSharesTable = 1u << 15;  // several tasks enter dependences in `table` (graph/table.hpp)
// The task left its body at a cancellation point; only while a tool is on.
inline constexpr uint32_t kLeft = 1u << 21;
inline constexpr uint32_t kDestroys = 1u << 22;   // `invoke` also destroys the task's private objects
inline constexpr uint32_t kDiscarded = 1u << 23;  // cancelled: `invoke`, if called, only destroys these objects
inline constexpr uint32_t kDomainShift = 24;  // the highest byte: 1 + the NUMA domain of the task's affinity; 0: none
// With kImplicit: the initial task of a target region (construct/device/target.hpp).
inline constexpr uint32_t kInitial = 1u << 20;
// The same bit without kImplicit. Until the task's creation (kObserved): a target task of which an observer must be
// notified. After it (kClaimed): the task is claimed (graph/claims.hpp), also if the library has left it to the
// runtime.
inline constexpr uint32_t kObserved = kInitial, kClaimed = kInitial;
// The same bit in other tasks, until their creation: the task is transparent (construct/task/transparent.hpp).
inline constexpr uint32_t kTransparent = kInitial;
// The same bit together with the highest NUMA domain: threads outside the team may run the task, too
// (sched/pool_tasks.hpp). For the whole life of the task; its affinity, if it has one, is not kept.
inline constexpr uint32_t kInPool = kInitial | 0xffu << kDomainShift;
// Persistent graphs (construct/task/persistent.hpp).
inline constexpr uint32_t kInGraph = 1u << 16;     // the tasks that this task creates belong to its graph
inline constexpr uint32_t kPersistent = 1u << 17;  // a graph owns the descriptor, and frees it
inline constexpr uint32_t kReplayed = 1u << 18;    // `node` is set, and the node's successors wait for this task
inline constexpr uint32_t kObjects = 1u << 19;     // the block cannot be copied byte by byte
}  // namespace task_flag

// The two counts and two flags in Task::children. Each count has 31 bits: it counts descriptors in use, and 2^31 of
// them need 384 GiB.
namespace children_word {
inline constexpr uint64_t kWaitingForChildren = 1;  // the task is suspended in taskwait
inline constexpr uint64_t kWaitingForSubtree = 2;  // the body has ended (or is at a barrier): act when the subtree ends
inline constexpr uint64_t kIncomplete = uint64_t{1} << 2;
inline constexpr uint64_t kAlive = uint64_t{1} << 33;
inline constexpr uint64_t kLeaf = kIncomplete | kAlive;
constexpr uint32_t incomplete(uint64_t word) { return static_cast<uint32_t>(word >> 2) & 0x7fffffffu; }
constexpr uint32_t alive(uint64_t word) { return static_cast<uint32_t>(word >> 33); }
}  // namespace children_word

struct alignas(kCacheLine) Task {
  // First cache line: what running the task needs.
  void (*invoke)(Task*);  // calls the compiler's function on `block`
  void* block;            // kmp_task_t, or GCC's argument block
  // Alive as long as this task (counted in the parent's `children`). Once this task has ended, perhaps a more distant
  // ancestor (exec/worker/ended_ancestors.hpp).
  Task* parent;
  Team* team;
  Taskgroup* taskgroup;  // the innermost group that the task belongs to, or null
  Fiber* fiber;          // the fiber on which the task is suspended; null: start the task rather than resume it
  union {
    Task* next;  // link of the one queue that the task is in
    // With kObserved, until the task is created; null: not known (construct/task/observed.hpp).
    const DependenceLengths* lengths;
  };
  uint32_t flags;
  // From the clause, or raised to that of a successor (graph/lineage.hpp).
  Atomic<int32_t> priority;

  // Second cache line: relations to other tasks.
  Atomic<uint64_t> children;  // children_word
  uint64_t created;           // children created since this number was last added to `children`
  Atomic<Edge*> successors;   // graph/successors.hpp
  // The last task that was ordered after this one, at first this task itself: finds duplicate edges in O(1).
  const Task* last_successor;
  DependenceTable* table;  // of this task's children; null until a child has a dependence
  Icvs* icvs;
  Atomic<int32_t> predecessors;
  // One for the execution, one for the dependence table, one per unfinished task that refers to it (graph/lineage.hpp);
  // at zero the descriptor is freed.
  Atomic<int32_t> references;
  // Number of references from entries of the dependence table, which have 64 bytes each; graph side.
  uint32_t table_references;
  // In a taskgroup: the task's number in the order of creation (exec/worker/cancellation.hpp).
  uint32_t serial;

  // Third cache line: never touched by an independent task without a name, in a program without a tool.
  const char* label;   // only with task_flag::kLabelled
  uint64_t tool_data;  // ompt_data_t of the task; only while a tool is on
  union {
    Event event{};  // for the detach clause: only with task_flag::kDetach
    // Of target tasks, which have no detach clause (construct/device/device_wait.hpp).
    void* device_handle;
    // With kObserved: a function of the face, describes the task to the observer.
    void (*describe)(Task*, marline_target_task&);
    // With kOfClaimed, until the task ends: its number in the reports to the observer.
    uint64_t number;
  };
  union {
    Worker* home;           // only while suspended: the worker that must resume the task, or null for any
    int64_t target_device;  // with kObserved, in Clang's code: from the device clause
    Gate* gate;             // only with kGated, so never with the other fields
    // With kClaimed: the library's handle of the task, until the library ends the task; then the task may suspend.
    void* claimed_by;
  };
  // Edges beyond the in-line ones. This and the following fields are valid with task_flag::kGraph.
  EdgeChunk* edge_chunks;
  union {
    ExclusionList* exclusions;  // of its mutexinoutset dependences (graph/exclusion.hpp); null: none
    // Of an undeferred task with kDetach, until its block ends (graph/dependences.hpp); or null.
    KeptDependences* kept;
  };
  union {
    Edge* edges;             // in-line edges, after the block
    GraphNode* node;         // only with task_flag::kReplayed
    uintptr_t record_index;  // odd while a graph is recorded (graph/recorded_graph.hpp)
  };
  uint32_t inline_edges;  // graph side; for a claimed task with edges: the bit kOfClaimed
  uint32_t look;          // color, and in the highest byte the cluster node; only with task_flag::kLabelled

  static constexpr uint32_t kOfClaimed = 1u << 31;
  static constexpr uint32_t kColor = 0xffffff, kNodeShift = 24;

  const char* name() const { return has(task_flag::kLabelled) ? label : nullptr; }
  uint32_t color() const { return has(task_flag::kLabelled) ? look & kColor : 0; }                           // 0xRRGGBB
  int cluster_node() const { return has(task_flag::kLabelled) ? static_cast<int>(look >> kNodeShift) : 0; }  // 0: any
  bool tied() const { return flags & (task_flag::kTied | task_flag::kPinned); }
  bool has(uint32_t flag) const { return flags & flag; }
  int domain() const { return static_cast<int>(flags >> task_flag::kDomainShift) - 1; }  // -1: no affinity
  void set_domain(int domain) {
    constexpr uint32_t kOthers = (uint32_t{1} << task_flag::kDomainShift) - 1;
    flags = (flags & kOthers) | static_cast<uint32_t>(domain + 1) << task_flag::kDomainShift;
  }
};

static_assert(sizeof(Task) == 3 * kCacheLine);

// The cache lines that running a task needs are in the cache of its creator, or of its predecessors' threads.
// Prefetched together, they arrive in the time of one. The third line, which graphs use, is left out.
inline void prefetch_task(const Task* task) {
  prefetch_for_write(&task->children);
  prefetch_for_write(task);
  prefetch_for_write(task + 1);
}

// A taskgroup region: counts the tasks generated in it and their descendants. Owned by the task that opened it; alive
// until its end, which waits for the count.
struct Taskgroup {
  static constexpr int64_t kWaiting = 1, kOne = 2;
  Taskgroup* outer;
  Task* owner;
  // kOne per unfinished task, plus kWaiting while the owner waits for the count. A thread that completes a task
  // subtracts kOne at once. The owner counts the tasks that it creates in `created`, and adds them here ("settles"
  // them) only when it waits. So until then the count may be negative.
  Atomic<int64_t> count;
  int64_t created;   // tasks created by the owner and not yet added to `count`
  void* reductions;  // construct/task/task_reduction.hpp; null: none
  // For cancelling tasks that are created later (exec/worker/cancellation.hpp).
  static constexpr uint32_t kAll = UINT32_MAX, kLastSerial = kAll - 1;
  Taskgroup* order;              // the group in which this group's tasks get their serial numbers
  bool is_construct;             // the program has written the construct: it can be cancelled
  uint32_t last_serial;          // owner only: serial number of the last task or group created
  uint32_t place;                // this group's serial number in the group around
  Atomic<uint32_t> last_to_run;  // lowered by any task of the group; tasks with a higher serial number are not run
  // Detachable tasks that were not run, linked by `next`: their events may still be fulfilled.
  Atomic<Task*> kept;
};

}  // namespace marline
