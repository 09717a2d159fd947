// SPDX-License-Identifier: Apache-2.0
//
// Target tasks in iterations of persistent graphs that a library sees as they are created, and may claim
// (observed.hpp). Recorded, they are like all that are claimed. In a replay the record says which tasks stand before
// them, so they are claimed where all of those have been: the library hears their numbers, and the node says when they
// have ended. The producer's thread.
#include "construct/task/persistent_graph.hpp"

#include "base/small_array.hpp"
#include "sched/progress.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

Atomic<uint64_t> g_last_told{0};  // any producer

// The recorded iteration has ended: does it consist of tasks that an observer has claimed?
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
  if (graph->is_told) tool::tell_iterates(graph->told, graph->mode != GraphMode::kNowait);
}

// Its tasks' nodes stay as they are, which is as the iteration before has left them: each waits for all again. What the
// producer does behind it is to wait for it (go_on_unrecorded). An untied one could come back on another thread there.
bool repeat_told_iteration(PersistentGraph* graph) {
  bool is_given = graph->is_told && graph->producer->tied() && let_repeat(this_worker(), graph->told);
  if (!is_given) return false;
  graph->is_told = false;
  graph->is_whole = true;
  graph->position = graph->steps().count;
  return true;
}

// What it costs to go another way in the midst of a renewed iteration, which waits for what has been given, is to be
// little beside what is saved, also where that is so every now and then.
void pause_renewal(PersistentGraph* graph) {
  graph->renewal_pause = graph->next_pause;
  if (graph->next_pause < PersistentGraph::kLongestPause) graph->next_pause *= 2;
}

// Each iteration waits for the one before. An untied producer as above.
void renew_told_iteration(PersistentGraph* graph) {
  if (graph->renewal_pause != 0) return void(--graph->renewal_pause);
  bool may_be = graph->is_told && graph->renews && graph->mode != GraphMode::kNowait && graph->producer->tied();
  graph->is_renewed = may_be && let_renew(this_worker(), graph->told);
}

void end_told_iteration(PersistentGraph* graph) {
  if (graph->is_told) tool::tell_iterated(graph->told);
  graph->is_told = false;
}

void end_told(PersistentGraph* graph) {
  end_told_iteration(graph);
  if (graph->told != 0) tool::tell_graph_ends(graph->told);
  graph->told = 0;
}

namespace {

// A member of a mutexinoutset has exclusions in a replay, which a claimed task does not take.
bool has_exclusions(const Dependence* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (list[i].access == Access::kMutexinoutset) return true;
  }
  return false;
}

// It has no step: the members of a set, which are tasks, stand before it.
bool is_gather(const GraphRecord* record, const GraphNode* node) {
  uint32_t steps = record->steps[0].count;
  for (int i = 0; i < record->instances; ++i) {
    const GraphNode* nodes = record->instance[i];
    if (node >= nodes + steps && node < nodes + record->node_count) return true;
  }
  return false;
}

// Calls `visit` for each predecessor of the node, until it returns false. One that has a step also waits for the
// producer.
template <class Visit>
bool for_all_before(const PersistentGraph* graph, const GraphNode* node, const Visit& visit) {
  GraphNode** predecessors = graph->record.predecessors;
  if (predecessors == nullptr) return false;  // the observer has come since
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
    if (before.number != 0 && before.number != GraphNode::kEnded) tool::tell_awaited(before.number);
    if (is_gather(&graph->record, &before)) await_claimed_before(graph, &before);  // behind tasks alone: no deeper
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

// As in a whole iteration, the tasks' nodes stay as they are.
bool renew_persistent(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  PersistentGraph* graph = graph_of(worker->task);
  if (!graph->is_renewed) return false;
  progress_at_scheduling_point(worker);
  const GraphStep* step = next_step(worker, graph);
  bool is_next = !tool::present() && step != nullptr && graph->node(graph->position)->task == task &&
                 step_matches(&graph->record, *step, NodeKind::kTask, list, count);
  if (is_next && tell_again(worker, task, codeptr)) {
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
  task->predecessors.store(1, relaxed);  // released with the guard
  SmallArray<uint64_t> numbers("predecessors of a target task");
  (void)for_all_before(graph, node, [&](const GraphNode& before) {
    if (before.number != GraphNode::kEnded) numbers.push(before.number);
    return true;
  });
  node->number = task->number;
  const marline_target_observer_t* observer = tool::target_observer();
  if (observer->ordered != nullptr) observer->ordered(task->claimed_by, numbers.items(), numbers.count(), 0);
  if (release_guard(node)) tell_recorded_ready(task);
  return true;
}

}  // namespace marline
