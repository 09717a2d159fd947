// SPDX-License-Identifier: Apache-2.0
//
// Task: the descriptor that all parts of the runtime pass to each other. A single allocation holds this descriptor,
// then the compiler's own block (kmp_task_t or GCC's argument block), then inline edges. Implicit tasks use the same
// descriptor, inside Member.
//
// Who may touch what:
//   creator, until the task is made ready      every field
//   graph side (the thread that runs the parent)   `table_references`, `last_successor`
//   any thread that completes a predecessor    `predecessors`, which any thread that releases a hold has later
//   any thread that completes a child          `children`
//   the thread that runs the task              `created`, `icvs`, `table`, `label`-to-be of children, `flags`
//   whoever popped it from a queue             `next`, `fiber`
//
// The word `children` counts, in one atomic, the children that have not completed (what taskwait waits for) and those
// whose whole subtree has not ended (what barriers wait for). The running task counts the children that it creates in
// `created`, without an atomic, and adds them to the word ("settles") only when it must know the count. Until then
// completions may drive the word below zero. This is harmless: a thread acts on the word only if a flag is set, and
// only the settling operation sets a flag. Exactly one completion brings a settled count to zero, and the thread that
// makes it acts.
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
inline constexpr uint32_t kBodyDone = 1u << 6;  // only its completion is left
inline constexpr uint32_t kRequeued = 1u << 7;  // Clang's untied task asked to be run for its next part
inline constexpr uint32_t kInTable = 1u << 8;   // a dependence table knows it: `references` counts
inline constexpr uint32_t kGraph = 1u << 9;     // has the graph fields below initialised
inline constexpr uint32_t kMergeable = 1u << 10;
inline constexpr uint32_t kHolds = 1u << 11;    // `predecessors` counts the holds on it (exec/worker/hold.hpp)
inline constexpr uint32_t kPinned = 1u << 12;   // holds a copy of a reduction, and so stays on its thread
inline constexpr uint32_t kOwnIcvs = 1u << 13;  // `icvs` is its own copy (task/own_icvs.hpp)
inline constexpr uint32_t kLabelled = 1u << 14;
inline constexpr uint32_t kSharesTable = 1u << 15;  // `table` has many producers (graph/table.hpp)
inline constexpr uint32_t kLeft = 1u << 21;  // it went to its end from a cancellation point; only while a tool is on
inline constexpr uint32_t kDestroys = 1u << 22;   // `invoke` also destroys the task's private objects
inline constexpr uint32_t kDiscarded = 1u << 23;  // cancelled: `invoke`, if called, does nothing but that
inline constexpr uint32_t kDomainShift = 24;      // the highest byte: 1 + the NUMA domain of its affinity; 0: none
inline constexpr uint32_t kInitial = 1u << 20;    // with kImplicit: of a target region (construct/device/target.hpp)
// Without kImplicit, the same bit. Until its creation: a target task that an observer is to be told of. Then: it is
// claimed (graph/claims.hpp), also if the library has left it to the runtime.
inline constexpr uint32_t kObserved = kInitial, kClaimed = kInitial;
// Until its creation, of a task that is no target task: it is transparent (construct/task/transparent.hpp).
inline constexpr uint32_t kTransparent = kInitial;
// Persistent graphs (construct/task/persistent.hpp).
inline constexpr uint32_t kInGraph = 1u << 16;     // the tasks that it creates belong to its graph
inline constexpr uint32_t kPersistent = 1u << 17;  // the descriptor is a graph's, which frees it
inline constexpr uint32_t kReplayed = 1u << 18;    // `node` is set, and its successors wait for this task
inline constexpr uint32_t kObjects = 1u << 19;     // its block cannot be copied byte by byte
}  // namespace task_flag

// The two counts and two flags in Task::children. Each count has 31 bits: it is of descriptors in use, and 2^31 of them
// are 384 GiB.
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
  // First line: what running it needs.
  void (*invoke)(Task*);  // calls the compiler's function on `block`
  void* block;            // kmp_task_t, or GCC's argument block
  Task* parent;           // alive as long as this task is (counted by the parent's `children`); once this task has
                          // ended, perhaps a farther ancestor (exec/worker/ended_ancestors.hpp)
  Team* team;
  Taskgroup* taskgroup;  // innermost one that it belongs to, or null
  Fiber* fiber;          // the fiber that it is suspended on; null: start it rather than resume it
  union {
    Task* next;  // link of the one queue that it is in
    const DependenceLengths*
        lengths;  // with kObserved, until it is created; null: not known (construct/task/observed.hpp)
  };
  uint32_t flags;
  Atomic<int32_t> priority;  // the clause's, or what successors raised it to (graph/lineage.hpp)

  // Second line: relations to other tasks.
  Atomic<uint64_t> children;  // children_word
  uint64_t created;           // children since `children` was last settled
  Atomic<Edge*> successors;   // graph/successors.hpp
  const Task*
      last_successor;      // the last task that was ordered behind this one, at first itself: drops duplicates in O(1)
  DependenceTable* table;  // of its children; null until a child has a dependence
  Icvs* icvs;
  Atomic<int32_t> predecessors;
  Atomic<int32_t> references;  // execution (1) + dependence table (1), and of living tasks: the descriptor goes at zero
  uint32_t table_references;   // entries of the dependence table that name this task, 64 bytes each; graph side
  uint32_t serial;             // in a taskgroup: its place in the order of creation (exec/worker/cancellation.hpp)

  // Third line: an independent task without a name, in a program without a tool, never touches it.
  const char* label;   // only with task_flag::kLabelled
  uint64_t tool_data;  // ompt_data_t of the task; only while a tool is on
  union {
    Event event{};        // `detach`: only with task_flag::kDetach
    void* device_handle;  // of target tasks, which have no such clause (construct/device/device_wait.hpp)
    void (*describe)(Task*, marline_target_task&);  // with kObserved: the face's, tells the observer what the task is
    uint64_t number;  // with kOfClaimed, to its end: among those that the observer was told of
  };
  union {
    Worker* home;           // only while suspended: the worker that must resume it, or null for any
    int64_t target_device;  // with kObserved, of Clang's code: the device clause's
    void* claimed_by;  // with kClaimed: what the library knows it by, until it ends the task, which may then suspend
  };
  EdgeChunk* edge_chunks;  // from here on with task_flag::kGraph: edges beyond the in-line ones
  union {
    ExclusionList* exclusions;  // of mutexinoutset (graph/exclusion.hpp); null: none
    KeptDependences* kept;  // of an undeferred task with kDetach, until its block ends (graph/dependences.hpp); or null
  };
  union {
    Edge* edges;             // in-line edges, after the block
    GraphNode* node;         // only with task_flag::kReplayed
    uintptr_t record_index;  // odd: while a graph is recorded (graph/recorded_graph.hpp)
  };
  uint32_t inline_edges;  // graph side; of a claimed task that has its edges: kOfClaimed
  uint32_t look;          // color, and in the highest byte the node; only with task_flag::kLabelled

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

// What running any task needs is its creator's, or its predecessors'. Asked for together, the lines come in the time of
// one. The third one, which graphs use, is left out.
inline void prefetch_task(const Task* task) {
  prefetch_for_write(&task->children);
  prefetch_for_write(task);
  prefetch_for_write(task + 1);
}

// A taskgroup region: counts the tasks generated in it and their descendants. Owned by the task that opened it, on its
// stack or heap; alive until its end, which waits for the count.
struct Taskgroup {
  static constexpr int64_t kWaiting = 1, kOne = 2;
  Taskgroup* outer;
  Task* owner;
  Atomic<int64_t>
      count;         // kOne per unfinished task, settled by the owner like Task::children; kWaiting: owner suspended
  int64_t created;   // by the owner since the last settling
  void* reductions;  // construct/task/task_reduction.hpp; null: none
  // Cancelling what is created later (exec/worker/cancellation.hpp).
  static constexpr uint32_t kAll = UINT32_MAX, kLastSerial = kAll - 1;
  Taskgroup* order;              // the group in whose order of creation its tasks have their serials
  bool is_construct;             // the program has written it: it can be cancelled
  uint32_t last_serial;          // owner only: of what was created last
  uint32_t place;                // its own serial in the group around
  Atomic<uint32_t> last_to_run;  // any task of it lowers this; tasks with a higher serial are not run
  Atomic<Task*> kept;            // detachable tasks that were not run, by `next`: their events may yet be fulfilled
};

}  // namespace marline
