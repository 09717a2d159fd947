// SPDX-License-Identifier: Apache-2.0
//
// Creates nodes of the graph that have no body, and makes an edge to a task from a predecessor that has not completed.
#include "graph/linking.hpp"

#include "sched/team.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

// Descriptors are aligned to cache lines.
uint64_t bit_of(const Task* task) { return uint64_t{1} << (reinterpret_cast<uintptr_t>(task) / kCacheLine % 64); }

[[gnu::always_inline]] inline void remember(Linking& linking, const Task* predecessor) {
  linking.predecessors[linking.remembered++ % Linking::kRemembered] = predecessor;
  linking.bits |= bit_of(predecessor);
}

// Whether another predecessor of the task is a successor of `predecessor`: then the edge from `predecessor` is implied.
// `last` is the last successor of `predecessor`. Only addresses are compared, and a descriptor may have been freed and
// given to another task in the meantime:
//   - The last successor has been freed, and another predecessor of the task has its descriptor. Then the last
//     successor has completed, so `predecessor` has completed, too, and needs no edge either.
//   - A remembered predecessor has been freed, and a gather node that is made while the task's edges are made has its
//     descriptor. The predecessors of the gather node are implied, because the task is linked with the node next. The
//     node itself is not implied: it is its own last successor.
[[gnu::always_inline]] inline bool is_implied(const Linking& linking, const Task* predecessor, const Task* last) {
  if ((linking.bits & bit_of(last)) == 0) return false;
  uint32_t count = linking.remembered < Linking::kRemembered ? linking.remembered : Linking::kRemembered;
  for (uint32_t i = 0; i < count; ++i) {
    if (linking.predecessors[i] == last) return last != predecessor;
  }
  return false;
}

[[gnu::noinline]] void add_chunk(Linking& linking) {
  auto* chunk = static_cast<EdgeChunk*>(linking.worker->pool->allocate(sizeof(EdgeChunk)));
  chunk->next = linking.task->edge_chunks;
  linking.task->edge_chunks = chunk;
  linking.free_edge = chunk->edges;
  linking.free_end = chunk->edges + EdgeChunk::kEdges;
}

Edge* new_edge(Linking& linking) {
  if (linking.free_edge == linking.free_end) [[unlikely]] {
    add_chunk(linking);
  }
  return linking.free_edge++;
}

// True: the edge from `predecessor` is not needed.
[[gnu::always_inline]] inline bool passes_over(Linking& linking, const Task* predecessor, const Task* last) {
  if (!linking.filters.transitive) return false;
  if (is_implied(linking, predecessor, last)) {
    remember(linking, predecessor);
    ++linking.transitive;
    return true;
  }
  remember(linking, predecessor);
  return false;
}

[[gnu::always_inline]] inline bool push_edge(Linking& linking, Task* predecessor, Edge* edge, Edge* head) {
  edge->successor = linking.task;
  if (!transition_to_waiting_on(predecessor, edge, head)) {
    ++linking.pruned;
    return false;
  }
  ++linking.edges;
  return true;
}

Task* node_before(Worker* worker, Task* task) {
  Task* node = new_node(worker, 0, task);
  node->flags |= task_flag::kClaimed;
  node->predecessors.store(kGuard, relaxed);
  return node;
}

// The edge is in the memory of the claimed task, which is freed after the node.
[[nodiscard]] bool push_edge_to_claimed(Linking& linking, Task* predecessor, Edge* edge, Edge* head) {
  Claiming& claiming = *linking.claiming;
  const bool is_claimed = is_of_claimed(predecessor);
  if (!is_claimed && claiming.node == nullptr) claiming.node = node_before(linking.worker, linking.task);
  edge->successor = is_claimed ? linking.task : claiming.node;
  if (!transition_to_waiting_on(predecessor, edge, head)) {
    ++linking.pruned;
    return false;
  }
  if (is_claimed) {
    ++linking.edges;
    claiming.numbers.push(predecessor->number);
  } else {
    ++claiming.others;
  }
  return true;
}

[[gnu::noinline, gnu::cold]] bool add_edge_slowly(Linking& linking, Task* predecessor, const Task* last, Edge* head) {
  if (options().priority.propagates) lineage_add(linking.worker, linking.lineage, predecessor);
  if (passes_over(linking, predecessor, last)) return true;
  Edge* edge = new_edge(linking);
  if (!(linking.claiming != nullptr ? push_edge_to_claimed(linking, predecessor, edge, head)
                                    : push_edge(linking, predecessor, edge, head))) {
    return false;
  }
  if (linking.claiming == nullptr && is_of_claimed(predecessor)) tool::report_awaited(predecessor->number);
  if (tool::on(tool::event::kTaskDependence)) {
    tool::task_dependence(&predecessor->tool_data, &linking.task->tool_data);
  }
  return true;
}

}  // namespace

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

// Has no function calls on the common path, so that an edge is made in registers.
[[gnu::noinline]] bool add_edge(Linking& linking, Task* predecessor, const Task* last, Edge* head) {
  if (linking.free_edge == linking.free_end || options().priority.propagates ||
      tool::on(tool::event::kTaskDependence | tool::event::kTargetTasks)) [[unlikely]] {
    return add_edge_slowly(linking, predecessor, last, head);
  }
  if (passes_over(linking, predecessor, last)) return true;
  return push_edge(linking, predecessor, linking.free_edge++, head);
}

// While an iteration of a graph is recorded, the edge is recorded even if the predecessor has completed, and the
// predecessor stays in the table. A task that is entered again has been released already, and waits for no task.
[[gnu::noinline]] bool link_recorded(Linking& linking, Task* predecessor) {
  if (linking.record->reentering || predecessor == linking.task) return true;
  record_edge(linking.record, predecessor, linking.task);
  static_cast<void>(link_now(linking, predecessor));
  return true;
}

}  // namespace marline
