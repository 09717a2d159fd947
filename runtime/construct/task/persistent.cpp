// SPDX-License-Identifier: Apache-2.0
//
// The life of persistent task graphs: iterations begin, are recorded or replayed, and end.
#include "construct/task/persistent.hpp"

#include "base/check.hpp"
#include "construct/task/awaited.hpp"
#include "construct/task/offers.hpp"
#include "construct/task/persistent_steps.hpp"
#include "construct/task/task.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/frames.hpp"
#include "graph/descriptor.hpp"
#include "tool/tool.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marline {

namespace {

Atomic<uint64_t> g_last_graph{0};  // incremented by any producer

// The graph does not need the descriptor any more. A cancelled taskgroup around the iterations may still need it.
void free_task(Worker* worker, PersistentGraph* graph, Task* task) {
  constexpr uint32_t kMayBeFulfilled = task_flag::kDetach | task_flag::kDiscarded;
  exclusions_drop(worker, task);
  bool unused = (task->flags & kMayBeFulfilled) != kMayBeFulfilled;
  if (unused || !leave_to_group(graph->producers_group, task)) free_persistent_task(worker, task);
}

void free_allocations(Worker* worker, PersistentGraph* graph) {
  for (Array<Allocation>& stream : graph->allocations) {
    for (Allocation& one : stream) {
      if (one.task != nullptr) free_task(worker, graph, one.task);
      std::free(one.snapshot);
    }
    stream.clear();
  }
}

void renew_table(Worker* worker, PersistentGraph* graph) {
  if (graph->table != nullptr) table_destroy(worker, graph->table);
  graph->table = table_create(worker);
  graph->table->graph = graph;
  graph->producer->table = graph->table;
}

// Discards the record, after all tasks of the graph have ended, and begins to record.
void start_over(PersistentGraph* graph) {
  end_reported(graph);
  for (int i = 0; i < graph->instances(); ++i) wait_for_iteration(graph, i);
  Worker* worker = this_worker();
  renew_table(worker, graph);
  record_clear(worker, &graph->record);
  free_allocations(worker, graph);
  graph->state = GraphState::kRecording;
  graph->invalid = false;
  graph->replayable = true;
  graph->recorded = 0;
  graph->table->record = &graph->record;
  graph->table->outer = graph->producers_table;
}

bool allocations_alike(const PersistentGraph* graph) {
  const Array<Allocation>&a = graph->allocations[0], &b = graph->allocations[1];
  if (a.count != b.count) return false;
  for (uint32_t i = 0; i < a.count; ++i) {
    if (!same_shape(a[i].shape, b[i].shape)) return false;
  }
  return true;
}

// All iterations of the record have been recorded: the next one is a replay, unless they differ.
void finish_recording(PersistentGraph* graph) {
  for (int i = 0; i < graph->instances(); ++i) wait_for_iteration(graph, i);
  Worker* worker = this_worker();
  renew_table(worker, graph);
  if ((graph->instances() == 2 && !allocations_alike(graph)) ||
      !record_build(worker, &graph->record, graph->instances())) {
    return start_over(graph);
  }
  for (Array<Allocation>& stream : graph->allocations) {
    for (Allocation& one : stream) {
      drop_edges(worker, one.task);
    }
  }
  graph->state = GraphState::kReplaying;
  graph->previous_replayed = false;
  begin_reported(graph);
}

void replay_task(PersistentGraph* graph, const GraphStep& step) {
  Worker* worker = this_worker();
  const Allocation& allocation = graph->allocations[0][step.allocation];
  Snapshot* snapshot = allocation.snapshot;
  Task* task = allocation.task;
  const bool is_target = tool::present() && tool_tail(task)->is_target;
  begin_replay_of(worker, task, allocation.shape);
  if (is_target) note_target(task);
  task->priority.store(snapshot->priority, relaxed);
  task->set_domain(snapshot->domain);
  if (snapshot->label != nullptr || snapshot->look != 0) {
    task->label = snapshot->label;
    task->look = snapshot->look;
    task->flags |= task_flag::kLabelled;
  }
  std::memcpy(task->block, snapshot->bytes(), allocation.shape.block_bytes);
  if (snapshot->observed.describe != nullptr && tool::on(tool::event::kTargetTasks)) [[unlikely]] {
    let_observe(task, snapshot->observed.describe);
    task->target_device = snapshot->observed.target_device;
    task->lengths = snapshot->observed.lengths;
  }
  const Dependence* list = graph->record.dependences[0].items + step.first_dependence;
  spawn_task(worker, task, list, step.dependence_count, nullptr);
}

// Does what the producer's code would do, construct by construct, unless an observer runs the whole iteration.
void replay_without_code(PersistentGraph* graph) {
  graph->allocated = graph->allocations[0].count;
  if (repeat_reported_iteration(graph)) return;
  for (const GraphStep& step : graph->steps()) {
    const Dependence* list = graph->record.dependences[0].items + step.first_dependence;
    if (step.dropped) continue;
    switch (step.kind) {
      case NodeKind::kTask: replay_task(graph, step); break;
      case NodeKind::kWait: taskwait_depend(this_worker(), list, step.dependence_count, nullptr); break;
      case NodeKind::kTaskwait: taskwait(this_worker(), nullptr); break;
      case NodeKind::kGroupBegin: taskgroup_begin(this_worker(), nullptr); break;
      case NodeKind::kGroupEnd: taskgroup_end(this_worker(), nullptr); break;
      case NodeKind::kEmpty: break;
    }
  }
}

// Whether the iteration that ends equals the recorded one to its end.
bool was_replayed(PersistentGraph* graph) {
  if (graph->state != GraphState::kReplaying) return false;
  next_step(this_worker(), graph);
  const Array<Allocation>& stream = graph->allocations[graph->instance];
  while (graph->allocated < stream.count && stream[graph->allocated].dropped) ++graph->allocated;
  return graph->position == graph->steps().count && graph->allocated == stream.count;
}

void enter_producer(PersistentGraph* graph) {
  Task* producer = graph->producer;
  graph->producers_table = producer->table;
  graph->producers_group = producer->taskgroup;
  if (graph->table != nullptr) producer->table = graph->table;
  producer->flags |= task_flag::kInGraph;
  graph->open = true;
  for (Taskgroup& group : graph->groups) taskgroup_init(&group, producer, graph->producers_group, false);
}

// The iteration of the producer that leaves the graph has ended. Its tasks, their exclusions and the graph's table may
// refer to tasks that the producer has created before, and such references are counted by the producer's thread alone.
// So the record is built, or discarded, before another producer may use the graph.
void settle(PersistentGraph* graph) {
  if (graph->state == GraphState::kRecording) {
    finish_recording(graph);
    graph->position = graph->steps().count;  // as if this iteration had been replayed
    graph->allocated = graph->allocations[0].count;
  } else if (!was_replayed(graph)) {
    start_over(graph);
    graph->state = GraphState::kUnused;
  }
}

// Makes the graph ready for the iteration that begins, and selects its instance.
void prepare_iteration(PersistentGraph* graph) {
  end_reported_iteration(graph);
  bool first = graph->state == GraphState::kUnused;
  if (graph->state == GraphState::kRecording) {
    ++graph->recorded;
  } else if (!first && !was_replayed(graph)) {
    graph->invalid = true;
  }
  graph->instance = first ? 0 : (graph->instance + 1) % graph->instances();
  graph->unfinished = 0;
  if (first || graph->invalid) {
    graph->instance = 0;
    start_over(graph);
  } else if (graph->state == GraphState::kRecording && graph->recorded == graph->instances()) {
    graph->instance = 0;
    finish_recording(graph);
  } else {
    graph->unfinished = static_cast<uint32_t>(graph->instances() - 1);
    if (graph->state == GraphState::kReplaying) {
      graph->previous_replayed = true;
      wait_for_iteration(graph, graph->instance);
    }
  }
  graph->record.iteration = static_cast<uint8_t>(graph->instance);
}

// For tools, an iteration that the next one waits for is a taskgroup region. Of MARLINE_GRAPH_NOWAIT two overlap, which
// regions cannot.
bool is_group(const PersistentGraph* graph) { return graph->instances() == 1; }

// Whether the iteration that has been prepared needs the producer's code.
bool needs_code(const PersistentGraph* graph) {
  return graph->mode != GraphMode::kReplay || graph->state != GraphState::kReplaying || !graph->replayable;
}

void announce_iteration(PersistentGraph* graph) {
  if (graph->number == 0) graph->number = g_last_graph.fetch_add(1, relaxed) + 1;
  uint32_t how = 0;
  if (graph->open) how = graph->state != GraphState::kReplaying ? 1 : needs_code(graph) ? 2 : 3;
  const uint32_t unfinished = graph->open ? graph->unfinished : 0;
  tool::graph_iteration(&graph->producer->tool_data, {graph->number, graph->begun, unfinished, how});
}

void check_caller(const PersistentGraph* graph, const char* function) {
  const Task* task = this_worker()->task;
  if (has_scope(task)) {
    fatal(
        "%s: the task is transparent or has created a transparent task, so no graph can record its dependences; "
        "begin the graph in another task",
        function);
  }
  if (task->has(task_flag::kSharesTable) || (task->table != nullptr && task->table->sharer != nullptr)) {
    fatal("%s: the task shares its dependence table (marline_depend_share), which no graph can record", function);
  }
  if (task != graph->producer)
    fatal("%s: called by another task than the one that called marline_graph_begin", function);
  if (graph->open && task->taskgroup != graph->producers_group && task->taskgroup != &graph->groups[graph->instance]) {
    fatal("%s: called inside a taskgroup region that began in the iteration", function);
  }
}

}  // namespace

PersistentGraph* graph_begin(Worker* worker, GraphMode mode) {
  if (worker->task->has(task_flag::kInGraph)) {
    fatal("marline_graph_begin: the task is in an iteration of another graph; let a task of that one begin this one");
  }
  auto* graph = new (worker->pool->allocate(sizeof(PersistentGraph))) PersistentGraph{};
  graph->producer = worker->task;
  graph->mode = mode;
  return graph;
}

bool graph_iterate(PersistentGraph* graph) {
  check_caller(graph, "marline_graph_iterate");
  if (!graph->open && graph->producer->has(task_flag::kInGraph)) {
    fatal("marline_graph_iterate: the task is in an iteration of another graph; end that one first");
  }
  const bool ends_one = graph->open && is_group(graph);
  if (!graph->open) enter_producer(graph);
  if (ends_one) announce_group_wait(graph->producer, nullptr);
  prepare_iteration(graph);
  if (ends_one) announce_group_end(graph->producer, nullptr);
  if (is_group(graph)) announce_group_begin(graph->producer, nullptr);
  graph->position = 0;
  graph->allocated = 0;
  graph->is_whole = graph->is_renewed = false;
  graph->producer->taskgroup = &graph->groups[graph->instance];
  ++graph->begun;
  if (tool::present()) [[unlikely]]
    announce_iteration(graph);
  begin_reported_iteration(graph);
  if (needs_code(graph)) {
    renew_reported_iteration(graph);
    return true;
  }
  replay_without_code(graph);
  return false;
}

// A replay knows only the tasks of the region. So the producer waits here for tasks that it created before the region,
// if a recorded task would wait for them.
void graph_enter(PersistentGraph* graph, Worker* worker) {
  graph->producer = worker->task;
  const Array<Dependence>& list = graph->record.dependences[0];
  if (list.count == 0 || graph->producer->table == nullptr) return;
  taskwait_depend(worker, list.items, list.count, nullptr);
}

namespace {

void end_iterations(PersistentGraph* graph) {
  end_reported_iteration(graph);
  if (is_group(graph)) announce_group_wait(graph->producer, nullptr);
  for (int i = 0; i < graph->instances(); ++i) wait_for_iteration(graph, i);
  if (is_group(graph)) announce_group_end(graph->producer, nullptr);
}

void leave_producer(PersistentGraph* graph) {
  graph->producer->flags &= ~task_flag::kInGraph;
  graph->producer->table = graph->producers_table;
  graph->producer->taskgroup = graph->producers_group;
  graph->open = false;
  if (tool::present()) [[unlikely]]
    announce_iteration(graph);
}

}  // namespace

void graph_leave(PersistentGraph* graph) {
  end_iterations(graph);
  settle(graph);
  leave_producer(graph);
}

void graph_end(PersistentGraph* graph) {
  check_caller(graph, "marline_graph_end");
  if (graph->open) {
    end_iterations(graph);
    leave_producer(graph);
  }
  Worker* worker = this_worker();
  if (graph->table != nullptr) table_destroy(worker, graph->table);
  end_reported(graph);
  free_allocations(worker, graph);
  record_free(worker, &graph->record);
  for (Array<Allocation>& stream : graph->allocations) stream.free();
  SlabPool::release(graph, worker->pool);
}

void graph_invalidate(PersistentGraph* graph) { graph->invalid = true; }

void graph_drop_task(PersistentGraph* graph) {
  if (graph->state != GraphState::kReplaying) return;
  Array<GraphStep>& steps = graph->steps();
  for (uint32_t i = graph->position; i < steps.count; ++i) {
    if (steps[i].kind != NodeKind::kTask || steps[i].dropped) continue;
    steps[i].dropped = true;
    for (Array<Allocation>& stream : graph->allocations) {
      if (stream.count != 0) stream[steps[i].allocation].dropped = true;
    }
    return;
  }
}

}  // namespace marline
