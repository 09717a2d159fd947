// SPDX-License-Identifier: Apache-2.0
//
// Reports the iterations of persistent graphs to an observer of target tasks.
#include "construct/task/persistent_graph.hpp"

#include "tool/target_observer.hpp"

namespace marline {

namespace {

Atomic<uint64_t> g_last_reported{0};  // incremented by any producer

// The recorded iteration has ended: whether an observer has claimed all its tasks.
bool is_all_claimed(PersistentGraph* graph) {
  if (!tool::on(tool::event::kTargetTasks)) return false;
  for (const GraphStep& step : graph->steps()) {
    if (step.kind != NodeKind::kTask || !step.task->has(task_flag::kClaimed)) return false;
  }
  return true;
}

}  // namespace

void begin_reported(PersistentGraph* graph) {
  if (is_all_claimed(graph)) graph->reported_as = g_last_reported.fetch_add(1, relaxed) + 1;
}

void begin_reported_iteration(PersistentGraph* graph) {
  graph->is_reported = graph->reported_as != 0;
  if (graph->is_reported) tool::report_iterates(graph->reported_as, graph->mode != GraphMode::kNowait);
}

// If a renewed iteration differs from the record half-way, the producer waits for what the observer has got. The pause
// keeps this cost small compared to the gain, also if it happens repeatedly.
void pause_renewal(PersistentGraph* graph) {
  graph->renewal_pause = graph->next_pause;
  if (graph->next_pause < PersistentGraph::kLongestPause) graph->next_pause *= 2;
}

void end_reported_iteration(PersistentGraph* graph) {
  if (graph->is_reported) tool::report_iterated(graph->reported_as);
  graph->is_reported = false;
}

void end_reported(PersistentGraph* graph) {
  end_reported_iteration(graph);
  if (graph->reported_as != 0) tool::report_graph_ends(graph->reported_as);
  graph->reported_as = 0;
}

bool is_gather(const GraphRecord* record, const GraphNode* node) {
  uint32_t steps = record->steps[0].count;
  for (int i = 0; i < record->instances; ++i) {
    const GraphNode* nodes = record->instance[i];
    if (node >= nodes + steps && node < nodes + record->node_count) return true;
  }
  return false;
}

void await_claimed_before(const PersistentGraph* graph, const GraphNode* node) {
  (void)for_all_before(graph, node, [graph](const GraphNode& before) {
    if (before.number != 0 && before.number != GraphNode::kEnded) tool::report_awaited(before.number);
    // Its predecessors are tasks, so this goes no deeper.
    if (is_gather(&graph->record, &before)) await_claimed_before(graph, &before);
    return true;
  });
}

}  // namespace marline
