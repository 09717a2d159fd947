// SPDX-License-Identifier: Apache-2.0
//
// Target tasks in iterations of persistent graphs of which a library is notified as they are created, and which it may
// claim (observed.hpp). While an iteration is recorded, they are like all claimed tasks. In a replay the record has
// their predecessors, so they are claimed if all predecessors have been claimed: the library gets the predecessors'
// numbers, and the node counts the predecessors that have not ended. Run by the producer's thread.
#include "construct/task/persistent_graph.hpp"

#include "base/small_array.hpp"
#include "sched/progress.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

Atomic<uint64_t> g_last_told{0};  // incremented by any producer

// The recorded iteration has ended: whether an observer has claimed all its tasks.
bool is_all_claimed(PersistentGraph* graph) {
  if (!tool::on(tool::event::kTargetTasks)) return false;
  for (const GraphStep& step : graph->steps()) {
    if (step.kind != NodeKind::kTask || !step.task->has(task_flag::kClaimed)) return false;
  }
  return true;
}

}  // namespace

void begin_told(PersistentGraph* graph) {
  if (is_all_claimed(graph)) graph->told = g_last_told.fetch_add(1, relaxed) + 1;
}

void begin_told_iteration(PersistentGraph* graph) {
  graph->is_told = graph->told != 0;
  if (graph->is_told) tool::report_iterates(graph->told, graph->mode != GraphMode::kNowait);
}

// The nodes of the tasks keep the state in which the iteration before has left them: each waits for all its
// predecessors again. After that the producer waits for the iteration (go_on_unrecorded). An untied producer could
// continue on another thread there, so it does not get this far.
bool repeat_told_iteration(PersistentGraph* graph) {
  bool is_given = graph->is_told && graph->producer->tied() && let_repeat(this_worker(), graph->told);
  if (!is_given) return false;
  graph->is_told = false;
  graph->is_whole = true;
  graph->position = graph->steps().count;
  return true;
}

// If a renewed iteration differs from the record half-way, the producer waits for what the observer has got. The pause
// keeps this cost small compared to the gain, also if it happens repeatedly.
void pause_renewal(PersistentGraph* graph) {
  graph->renewal_pause = graph->next_pause;
  if (graph->next_pause < PersistentGraph::kLongestPause) graph->next_pause *= 2;
}

// Each iteration must wait for the one before. As above, the producer must not be untied.
void renew_told_iteration(PersistentGraph* graph) {
  if (graph->renewal_pause != 0) return void(--graph->renewal_pause);
  bool may_be =
      graph->is_told && graph->replays_with_arguments && graph->mode != GraphMode::kNowait && graph->producer->tied();
  graph->is_renewed = may_be && let_renew(this_worker(), graph->told);
}

void end_told_iteration(PersistentGraph* graph) {
  if (graph->is_told) tool::report_iterated(graph->told);
  graph->is_told = false;
}

void end_told(PersistentGraph* graph) {
  end_told_iteration(graph);
  if (graph->told != 0) tool::report_graph_ends(graph->told);
  graph->told = 0;
}

namespace {

// In a replay, a member of a mutexinoutset has exclusions, which a claimed task does not take.
bool has_exclusions(const Dependence* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (list[i].access == Access::kMutexinoutset) return true;
  }
  return false;
}

// Whether the node is a gather node. It has no step; its predecessors are the members of a set, which are tasks.
bool is_gather(const GraphRecord* record, const GraphNode* node) {
  uint32_t steps = record->steps[0].count;
  for (int i = 0; i < record->instances; ++i) {
    const GraphNode* nodes = record->instance[i];
    if (node >= nodes + steps && node < nodes + record->node_count) return true;
  }
  return false;
}

// Calls `visit` for each predecessor of the node, until it returns false. For a node with a step, `required` also
// counts the producer.
template <class Visit>
bool for_all_before(const PersistentGraph* graph, const GraphNode* node, const Visit& visit) {
  GraphNode** predecessors = graph->record.predecessors;
  if (predecessors == nullptr) return false;  // the observer was registered after the graph was built
  GraphNode** first = predecessors + node->first_predecessor;
  GraphNode** end = first + node->required - (is_gather(&graph->record, node) ? 0 : 1);
  for (GraphNode** at = first; at != end; ++at) {
    if (!visit(**at)) return false;
  }
  return true;
}

}  // namespace

void await_claimed_before(const PersistentGraph* graph, const GraphNode* node) {
  (void)for_all_before(graph, node, [graph](const GraphNode& before) {
    if (before.number != 0 && before.number != GraphNode::kEnded) tool::report_awaited(before.number);
    // Its predecessors are tasks, so this goes no deeper.
    if (is_gather(&graph->record, &before)) await_claimed_before(graph, &before);
    return true;
  });
}

bool persistent_may_claim(Worker* worker, Task* task, const Dependence* list, size_t count) {
  PersistentGraph* graph = graph_of(worker->task);
  if (graph->state == GraphState::kRecording) graph->observed = {task->describe, task->target_device, task->lengths};
  if (options().priority.propagates || has_exclusions(list, count)) return false;
  task->inline_edges &= ~Task::kOfClaimed;
  if (graph->state == GraphState::kReplaying) {
    const GraphStep* step = next_step(worker, graph);
    GraphNode* node = step != nullptr ? graph->node(graph->position) : nullptr;
    if (node != nullptr && node->task == task && step_matches(&graph->record, *step, NodeKind::kTask, list, count)) {
      return for_all_before(graph, node, [](const GraphNode& before) { return before.number != 0; });
    }
    go_on_unrecorded(worker, graph);
  }
  if (graph->state == GraphState::kUnrecorded && task->has(task_flag::kPersistent)) make_ordinary(worker, graph, task);
  return true;
}

// As in an iteration that the observer repeats, the tasks' nodes keep their state.
bool renew_persistent(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  PersistentGraph* graph = graph_of(worker->task);
  if (!graph->is_renewed) return false;
  progress_at_scheduling_point(worker);
  const GraphStep* step = next_step(worker, graph);
  bool is_next = !tool::present() && step != nullptr && graph->node(graph->position)->task == task &&
                 step_matches(&graph->record, *step, NodeKind::kTask, list, count);
  if (is_next && report_again(worker, task, codeptr)) {
    ++graph->position;
    return true;
  }
  go_on_unrecorded(worker, graph);
  return false;
}

uint64_t persistent_place(const Task* producer, uint64_t& step) {
  const PersistentGraph* graph = graph_of(producer);
  step = graph->position;
  return graph->is_told ? graph->told : 0;
}

bool enter_persistent_claimed(Task* task, const Dependence* list, size_t count) {
  PersistentGraph* graph = graph_of(task->parent);
  if (graph->state == GraphState::kRecording) record_task(graph, task, list, count);
  if (graph->state != GraphState::kReplaying) return false;
  GraphNode* node = graph->node(graph->position++);
  if (count != 0) task->flags |= task_flag::kGraph;
  task->inline_edges |= Task::kOfClaimed;
  task->predecessors.store(1, relaxed);  // this store is released with the guard
  SmallArray<uint64_t> numbers("predecessors of a target task");
  (void)for_all_before(graph, node, [&](const GraphNode& before) {
    if (before.number != GraphNode::kEnded) numbers.push(before.number);
    return true;
  });
  node->number = task->number;
  const marline_target_observer_t* observer = tool::target_observer();
  if (observer->ordered != nullptr) observer->ordered(task->claimed_by, numbers.items(), numbers.count(), 0);
  if (release_guard(node)) report_recorded_ready(task);
  return true;
}

}  // namespace marline
