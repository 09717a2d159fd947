// SPDX-License-Identifier: Apache-2.0
//
// Nodes of the graph without a body, and what a descriptor needs to be in the graph. The thread that runs the parent.
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

// `edges`: to it, for which there is room. `block` is its first word of business: the Event to fulfil when it is
// reached, or null; of one with kClaimed, the claimed task (graph/claims.hpp).
[[nodiscard]] Task* new_node(Worker* worker, size_t edges, void* block);

}  // namespace marline
