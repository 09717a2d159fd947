// SPDX-License-Identifier: Apache-2.0
//
// Makes the edges to one task from its predecessors. Used by the thread that runs the task's parent, after the task's
// creation and before the task may run; under the table's lock if several threads share the table. Invariant: during a
// Linking no thread sees the task's `predecessors` at zero. After end_linking, exactly one thread does: this one, or
// the one that completes the last predecessor.
#pragma once

#include "base/small_array.hpp"
#include "config/options.hpp"
#include "graph/lineage.hpp"
#include "graph/recorded_graph.hpp"
#include "graph/successors.hpp"

namespace marline {

// While the creator makes edges, `predecessors` is biased by this value: completions may already count it down, but no
// thread sees zero before the creator has replaced the bias by the number of edges. A task has fewer edges than this:
// each is from another task, and the descriptors of that many tasks need 192 GiB.
inline constexpr int32_t kGuard = 1 << 30;

// The task enters a dependence table: it has no successors and no predecessors yet.
inline void init_graph_fields(Task* task) {
  task->successors.store(nullptr, relaxed);
  task->last_successor = task;
  task->edge_chunks = nullptr;
  task->exclusions = nullptr;
  task->table_references = 0;
}

// Returns a node without a body, with room for up to `edges` edges to it. `block` is the Event to fulfil when the node
// is reached, or null; with kClaimed, which the caller sets, the claimed task (graph/claims.hpp).
[[nodiscard]] Task* new_node(Worker* worker, size_t edges, void* block);

// The predecessors of a claimed task, collected while its creator enters it. On the creator's stack.
struct Claiming {
  // The node that has an edge from each predecessor that is not claimed; null: there is no such predecessor.
  Task* node = nullptr;
  // The number of predecessors that are not claimed.
  int32_t others = 0;
  SmallArray<uint64_t> numbers{"predecessors of a target task"};  // of the claimed predecessors
};

// Whether a task in a dependence table is claimed, and so has a number.
inline bool is_of_claimed(const Task* task) { return (task->inline_edges & Task::kOfClaimed) != 0; }

// The state of making the edges to one task.
struct Linking {
  static constexpr uint32_t kRemembered = 8;
  Worker* worker;
  Task* task;
  Options::EdgeFilters filters;
  Edge* free_edge;  // [free_edge, free_end): in the descriptor, then in a chunk
  Edge* free_end;
  int32_t edges = 0;
  uint32_t pruned = 0, duplicate = 0, transitive = 0;  // DiscoveryCounters
  // The last predecessors that had not completed, in a ring, and a set of bits that includes the bit of each of them.
  uint32_t remembered = 0;
  uint64_t bits = 0;
  // The first `remembered` entries are valid, at most all.
  const Task* predecessors[kRemembered];
  PredecessorChunk* lineage = nullptr;  // the list of predecessors, if priorities propagate
  // Of the graph with an iteration that is being recorded, or entered again; or null.
  GraphRecord* record = nullptr;
  Claiming* claiming = nullptr;  // for a claimed task; or null

  enum class Life { kNew, kMayRun };

  Linking(Worker* its_worker, Task* its_task, Life life = Life::kNew)
      : worker(its_worker),
        task(its_task),
        filters(options().edges),
        free_edge(its_task->edges),
        free_end(its_task->edges + its_task->inline_edges) {
    // For a new task: no thread may see zero while edges are made. A task that runs may count its holds in
    // `predecessors` (exec/worker/hold.hpp).
    if (life == Life::kNew) task->predecessors.store(kGuard, relaxed);
  }
};

// Adds an edge, unless another edge to the task makes it unnecessary. `last`: the predecessor's last successor before
// this task; `head`: the predecessor's list of successors, which was not closed. False: the predecessor has completed
// meanwhile.
bool add_edge(Linking& linking, Task* predecessor, const Task* last, Edge* head);

// Replaces link_now while an iteration of a graph is recorded.
bool link_recorded(Linking& linking, Task* predecessor);

// Called if the task is the predecessor's last successor. A task without a successor is its own last successor.
inline bool has_edge_already(Linking& linking, const Task* predecessor) {
  if (predecessor == linking.task) return true;
  linking.duplicate += linking.filters.duplicate;
  return linking.filters.duplicate;
}

// Orders the task after `predecessor`. False: `predecessor` has completed, and no later task need wait for it.
[[gnu::always_inline]] inline bool link_now(Linking& linking, Task* predecessor) {
  Edge* head = successors_of(predecessor);
  if (head == closed_list()) {
    ++linking.pruned;
    return false;
  }
  const Task* last = predecessor->last_successor;
  if (last == linking.task && has_edge_already(linking, predecessor)) return true;
  predecessor->last_successor = linking.task;
  return add_edge(linking, predecessor, last, head);
}

[[gnu::always_inline]] inline bool link(Linking& linking, Task* predecessor) {
  if (linking.record != nullptr) [[unlikely]] {
    return link_recorded(linking, predecessor);
  }
  return link_now(linking, predecessor);
}

[[gnu::always_inline]] inline void count_edges_not_made(const Linking& linking) {
  DiscoveryCounters& counters = linking.worker->discovery;
  if ((linking.pruned | linking.duplicate | linking.transitive) == 0) return;
  counters.pruned.add(linking.pruned);
  counters.duplicate.add(linking.duplicate);
  counters.transitive.add(linking.transitive);
}

// True: no unfinished predecessor is left.
[[gnu::always_inline]] inline bool end_linking(Linking& linking) {
  DiscoveryCounters& counters = linking.worker->discovery;
  count_edges_not_made(linking);
  if (linking.edges == 0) return true;
  counters.edges.add(static_cast<uint64_t>(linking.edges));
  // acq_rel: releases the task to the completion that brings the count to zero; acquires the effects of the completions
  // if it is zero here.
  return linking.task->predecessors.fetch_add(linking.edges - kGuard, acq_rel) + linking.edges == kGuard;
}

}  // namespace marline
