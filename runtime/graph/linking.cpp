// SPDX-License-Identifier: Apache-2.0
//
// Making an edge to a predecessor that has not completed. See linking.hpp.
#include "graph/linking.hpp"

#include "graph/claims.hpp"
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

// Whether another one of the task's predecessors comes after `predecessor`, whose last successor is `last`. Only
// addresses are compared, and a descriptor may have been given to another task since either was seen:
//   - the last successor is gone, and a predecessor of the task's has its descriptor: then it has completed, hence so
//     has `predecessor`, and the edge is as little needed
//   - a predecessor that was remembered is gone, and a gather node that is made while the task's edges are has its
//     descriptor. What it gathers is implied indeed, as the task is linked with it next. The node itself, which is its
//     own last successor still, is not.
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
  chunk->locators = 0;
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

// The edge to `predecessor` is not needed.
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

// Of no task: what stands for all tasks before a transparent one (enter_after_all). Tools do not see it. (With a tool
// that asks, there are no other nodes without a parent in tables: graph/dependences.cpp, end_set.)
bool is_anonymous(const Task* task) {
  return task->has(task_flag::kEmpty) && task->has(task_flag::kInTable) && task->parent == nullptr;
}

void tell_edge(Task* predecessor, Task* task) {
  if (is_anonymous(predecessor) || is_anonymous(task)) return;
  tool::task_dependence(&predecessor->tool_data, &task->tool_data);
}

[[gnu::noinline, gnu::cold]] bool add_edge_slowly(Linking& linking, Task* predecessor, const Task* last, Edge* head) {
  if (options().priority.propagates) lineage_add(linking.worker, linking.lineage, predecessor);
  if (passes_over(linking, predecessor, last)) return true;
  Edge* edge = new_edge(linking);
  if (!(linking.claiming != nullptr ? push_edge_to_claimed(linking, predecessor, edge, head)
                                    : push_edge(linking, predecessor, edge, head))) {
    return false;
  }
  if (linking.claiming == nullptr && is_of_claimed(predecessor)) tool::tell_awaited(predecessor->number);
  if (tool::on(tool::event::kTaskDependence)) tell_edge(predecessor, linking.task);
  return true;
}

}  // namespace

// Calls nothing, so that the common edge is made in registers.
[[gnu::noinline]] bool add_edge(Linking& linking, Task* predecessor, const Task* last, Edge* head) {
  if (linking.free_edge == linking.free_end || options().priority.propagates ||
      tool::on(tool::event::kTaskDependence | tool::event::kTargetTasks)) [[unlikely]] {
    return add_edge_slowly(linking, predecessor, last, head);
  }
  if (passes_over(linking, predecessor, last)) return true;
  return push_edge(linking, predecessor, linking.free_edge++, head);
}

// The iteration of a graph: the edge is written down whatever has become of the predecessor, whose place in the table
// stays. A task that is entered again is released already: it waits for nobody.
[[gnu::noinline]] bool link_recorded(Linking& linking, Task* predecessor) {
  if (linking.record->reentering || predecessor == linking.task) return true;
  record_edge(linking.record, predecessor, linking.task);
  static_cast<void>(link_now(linking, predecessor));
  return true;
}

}  // namespace marline
