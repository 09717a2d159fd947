// SPDX-License-Identifier: Apache-2.0
//
// Creates nodes of the graph that have no body.
#include "graph/node.hpp"

#include "graph/lineage.hpp"
#include "graph/successors.hpp"

namespace marline {

Task* new_node(Worker* worker, size_t edges, void* block) {
  size_t room = edges < 256 ? edges : 256;
  void* memory = worker->pool->allocate(sizeof(Task) + room * sizeof(Edge) + lineage_bytes());
  Task* node = static_cast<Task*>(memory);
  node->flags = task_flag::kEmpty | task_flag::kGraph;
  node->block = block;
  node->parent = nullptr;
  node->tool_data = 0;
  node->references.store(1, relaxed);
  init_graph_fields(node);
  node->edges = reinterpret_cast<Edge*>(node + 1);
  node->inline_edges = static_cast<uint16_t>(room);
  node->priority.store(0, relaxed);
  if (lineage_bytes() != 0) [[unlikely]]
    lineage_begin(node, 0, true);
  return node;
}

}  // namespace marline
