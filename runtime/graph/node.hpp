// SPDX-License-Identifier: Apache-2.0
//
// Nodes of the graph without a body, and the fields that a descriptor needs in the graph. Used by the thread that runs
// the parent.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The task enters a dependence table: it has no successors and no predecessors yet.
inline void init_graph_fields(Task* task) {
  task->successors.store(nullptr, relaxed);
  task->last_successor = task;
  task->edge_chunks = nullptr;
  task->exclusions = nullptr;
  task->table_references = 0;
}

// Returns a node with room for up to `edges` edges to it. `block` is the Event to fulfil when the node is reached, or
// null; with kClaimed, which the caller sets, the claimed task (graph/claims.hpp).
[[nodiscard]] Task* new_node(Worker* worker, size_t edges, void* block);

}  // namespace marline
