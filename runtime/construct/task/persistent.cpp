// SPDX-License-Identifier: Apache-2.0
//
// The producer's side of persistent task graphs: records iterations, and replays them.
//
// Two sequences describe an iteration: the descriptors in the order of their allocation, and the constructs (tasks,
// waits) in the order of their execution. The orders differ: a compiler allocates a taskloop's pattern first and spawns
// it last, or never.
#include "construct/task/persistent.hpp"

#include "base/check.hpp"
#include "base/sanitizer.hpp"
#include "construct/task/persistent_graph.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/frames.hpp"
#include "graph/descriptor.hpp"
#include "tool/tool.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marline {

namespace {

constexpr uint32_t kCompared = task_flag::kTied | task_flag::kFinal | task_flag::kDetach | task_flag::kMergeable;
// Flags of tasks that cannot be copied byte by byte; and all flags that a task may start with.
constexpr uint32_t kUncopied = task_flag::kObjects | task_flag::kDestroys;
constexpr uint32_t kKept = kCompared | kUncopied | task_flag::kLabelled | ~0u << task_flag::kDomainShift;

bool same_shape(const TaskShape& a, const TaskShape& b) {
  return a.code == b.code && a.invoke == b.invoke && a.block_bytes == b.block_bytes && a.block_align == b.block_align &&
         ((a.flags ^ b.flags) & kCompared) == 0;
}

// Waits for the instance's tasks. Then resets the group, which may be waited for again before the instance's next
// iteration.
void wait_for_iteration(PersistentGraph* graph, int instance) {
  Taskgroup* group = &graph->groups[instance];
  taskgroup_wait(graph->producer, group);
  tsan_acquire(group);  // pairs with the end of each task of the group (exec/worker/completion.cpp)
  taskgroup_init(group, graph->producer, graph->producers_group, false);
}

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

// Waits on this thread: the caller continues with what it knows of it.
void wait_here_for_iteration(PersistentGraph* graph) {
  Task* producer = graph->producer;
  bool moves = !producer->has(task_flag::kImplicit | task_flag::kPinned);
  if (moves) producer->flags |= task_flag::kPinned;
  wait_for_iteration(graph, graph->instance);
  if (moves) producer->flags &= ~task_flag::kPinned;
}

// Discards the record, after all tasks of the graph have ended, and begins to record.
void start_over(PersistentGraph* graph) {
  end_told(graph);
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
  begin_told(graph);
}

// Passes the steps in which the producer does not take part: tasks that it dropped, and marks.
void pass_steps(Worker* worker, PersistentGraph* graph) {
  Array<GraphStep>& steps = graph->steps();
  for (; graph->position < steps.count; ++graph->position) {
    const GraphStep& step = steps[graph->position];
    if (!step.dropped && step.kind <= NodeKind::kWait) return;
    if (!step.dropped) continue;
    GraphNode* node = graph->node(graph->position);  // its task ended with the instance's last iteration
    node->task = nullptr;
    node->kind = NodeKind::kEmpty;
    node->number = 0;
    release_empty(worker, node);
  }
}

}  // namespace

GraphStep* next_step(Worker* worker, PersistentGraph* graph) {
  Array<GraphStep>& steps = graph->steps();
  const GraphStep* step = graph->position < steps.count ? &steps[graph->position] : nullptr;
  if (step != nullptr && (step->dropped || step->kind > NodeKind::kWait)) [[unlikely]]
    pass_steps(worker, graph);
  return graph->position < steps.count ? &steps[graph->position] : nullptr;
}

namespace {

void reenter_steps(Worker* worker, PersistentGraph* graph, int instance, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const GraphStep& step = graph->steps()[i];
    Task* task = graph->record.instance[instance][i].task;
    if (task == nullptr || step.dependence_count == 0) continue;
    const Dependence* list = graph->record.dependences[graph->instances() - 1].items + step.first_dependence;
    reenter_graph(worker, &graph->record, task, list, step.dependence_count);
  }
}

}  // namespace

// The producer does something that was not recorded. Replays do not use the table; it now gets the entries that it
// would have if this iteration had been an ordinary one so far: the tasks that may be unfinished are entered, in their
// order. No task waits because it is entered. Tasks that are not created yet keep their nodes' guards, so none of them
// runs too early.
void go_on_unrecorded(Worker* worker, PersistentGraph* graph) {
  graph->state = GraphState::kUnrecorded;
  if (graph->is_renewed) pause_renewal(graph);
  graph->is_whole = graph->is_whole || graph->is_renewed;
  graph->is_renewed = false;
  end_told_iteration(graph);
  graph->table->outer = graph->producers_table;
  if (graph->is_whole) return wait_here_for_iteration(graph);
  if (graph->instances() == 2 && graph->previous_replayed) {
    reenter_steps(worker, graph, 1 - graph->instance, graph->steps().count);
  }
  reenter_steps(worker, graph, graph->instance, graph->position);
}

namespace {

// Finds the last entry of the stream with this task: nearly always the last entry of all.
uint32_t find_allocation(const Array<Allocation>& stream, const Task* task, uint32_t end) {
  while (end > 0 && stream[end - 1].task != task) --end;
  if (end == 0) fatal("a task of a persistent graph was allocated in another iteration than it is created in");
  return end - 1;
}

}  // namespace

// Makes a descriptor an ordinary task, if the graph has given it out before the iteration differed from the record.
void make_ordinary(Worker* worker, PersistentGraph* graph, Task* task) {
  Array<Allocation>& stream = graph->allocations[graph->instance];
  stream[find_allocation(stream, task, graph->allocated)].task = nullptr;
  exclusions_drop(worker, task);
  task->record_index = 1;  // odd: entering adds to its references rather than setting them
  task->flags &= ~(task_flag::kPersistent | task_flag::kReplayed);
}

namespace {

void take_snapshot(PersistentGraph* graph, Task* task, Allocation& allocation) {
  if (task->has(kUncopied)) {
    graph->replayable = false;
    return;
  }
  size_t bytes = allocation.shape.block_bytes;
  const DependenceLengths* lengths = graph->observed.lengths;
  size_t count = lengths != nullptr ? lengths->count : 0,
         begin = (bytes + alignof(size_t) - 1) & ~(alignof(size_t) - 1);
  auto* snapshot = static_cast<Snapshot*>(std::malloc(sizeof(Snapshot) + begin + count * sizeof(size_t)));
  if (snapshot == nullptr) fatal("no memory (%zu bytes) for the data of a task of a persistent graph", bytes);
  *snapshot = {task->priority.load(relaxed),
               task->domain(),
               task->has(task_flag::kLabelled) ? task->look : 0,
               task->name(),
               graph->observed,
               {}};
  std::memcpy(snapshot->bytes(), task->block, bytes);
  if (lengths != nullptr) {
    auto* copy = reinterpret_cast<size_t*>(static_cast<char*>(snapshot->bytes()) + begin);
    if (count != 0) std::memcpy(copy, lengths->bytes, count * sizeof(size_t));
    snapshot->lengths = {count, copy};
    snapshot->observed.lengths = &snapshot->lengths;
  }
  allocation.snapshot = snapshot;
}

}  // namespace

void record_task(PersistentGraph* graph, Task* task, const Dependence* list, size_t count) {
  int i = graph->instance;
  uint32_t allocation = find_allocation(graph->allocations[i], task, graph->allocations[i].count);
  uint32_t step = record_step(&graph->record, NodeKind::kTask, task, list, count);
  graph->record.steps[i][step].allocation = allocation;
  if (graph->mode == GraphMode::kReplay) take_snapshot(graph, task, graph->allocations[i][allocation]);
  graph->observed = {};
}

namespace {

void begin_replay_of(Worker* worker, Task* task, const TaskShape& shape) {
  begin_another_life(worker, task, shape);
  task->flags |= task_flag::kPersistent | task_flag::kReplayed;
  task->successors.store(nullptr, relaxed);
  task->last_successor = task;
  task->table_references = 0;
}

// The descriptors of an iteration do not fit in the first-level cache, and their order is not predictable for the
// processor. Prefetches also the first line of the face's block, which is filled next.
void prefetch_descriptor(const Array<Allocation>& stream, uint32_t at) {
  if (at >= stream.count) return;
  const auto* task = reinterpret_cast<const char*>(stream[at].task);
  for (size_t line = 0; line < sizeof(Task) + 64; line += 64) __builtin_prefetch(task + line, 1);
}

Task* take_recorded(Worker* worker, PersistentGraph* graph, const TaskShape& shape) {
  Array<Allocation>& stream = graph->allocations[graph->instance];
  while (graph->allocated < stream.count && stream[graph->allocated].dropped) ++graph->allocated;
  if (graph->allocated == stream.count || !same_shape(stream[graph->allocated].shape, shape)) return nullptr;
  Task* task = stream[graph->allocated++].task;
  // The one after the next; the call before has prefetched the next one.
  prefetch_descriptor(stream, graph->allocated + 1);
  begin_replay_of(worker, task, shape);
  return task;
}

}  // namespace

Task* allocate_persistent(Worker* worker, TaskShape& shape) {
  PersistentGraph* graph = graph_of(worker->task);
  shape.flags &= kKept;  // a copy of a task arrives here with all flags that the task has by then
  if (graph->state == GraphState::kReplaying) [[likely]] {
    if (Task* task = take_recorded(worker, graph, shape)) [[likely]]
      return task;
    go_on_unrecorded(worker, graph);
  }
  if (graph->state == GraphState::kUnrecorded) return allocate_ordinary_task(worker, shape);
  shape.dependences = 0;  // edges go to chunks, which the graph frees when it has been recorded
  Task* task = allocate_ordinary_task(worker, shape);
  task->flags |= task_flag::kPersistent;
  task->exclusions = nullptr;
  task->edge_chunks = nullptr;
  task->inline_edges = 0;
  graph->allocations[graph->instance].push({shape, task, nullptr, false});
  return task;
}

bool enter_persistent(Worker* worker, Task* task, const Dependence* list, size_t count) {
  PersistentGraph* graph = graph_of(worker->task);
  if (graph->state == GraphState::kReplaying) [[likely]] {
    const GraphStep* step = next_step(worker, graph);
    if (step != nullptr && step_matches(&graph->record, *step, NodeKind::kTask, list, count)) [[likely]] {
      GraphNode* node = graph->node(graph->position);
      if (node->task == task) [[likely]] {
        ++graph->position;
        node->number = 0;
        if (graph->record.predecessors != nullptr) [[unlikely]]
          await_claimed_before(graph, node);
        if (count != 0) task->flags |= task_flag::kGraph;
        if (node->priority > task->priority.load(relaxed)) [[unlikely]]
          task->priority.store(node->priority, relaxed);
        return release_guard(node) && exclusions_take(task);
      }
    }
    go_on_unrecorded(worker, graph);
  }
  if (graph->state == GraphState::kRecording) {
    record_task(graph, task, list, count);
  } else if (task->has(task_flag::kPersistent)) {
    make_ordinary(worker, graph, task);
  }
  return count == 0 || enter_graph_rarely(worker, task, list, count);
}

bool enter_persistent_wait(Worker* worker, const Dependence* list, size_t count, Event* event, uint64_t tool_data) {
  PersistentGraph* graph = graph_of(worker->task);
  if (graph->state == GraphState::kReplaying) {
    const GraphStep* step = next_step(worker, graph);
    if (step != nullptr && step_matches(&graph->record, *step, NodeKind::kWait, list, count)) {
      GraphNode* node = graph->node(graph->position++);
      node->event = event;
      await_claimed_before(graph, node);
      return !release_guard(node);
    }
    go_on_unrecorded(worker, graph);
  }
  if (graph->state == GraphState::kRecording) record_step(&graph->record, NodeKind::kWait, nullptr, list, count);
  return enter_wait(worker, worker->task, list, count, event, tool_data);
}

// Regions of an iteration that the observer runs belong to none of its taskgroups.
void persistent_note_wait(Task* producer, NodeKind kind) {
  PersistentGraph* graph = graph_of(producer);
  if (kind == NodeKind::kGroupBegin) {
    leave_renewed_iteration(this_worker());
    graph->replays_with_arguments = false;
  }
  if (graph->mode != GraphMode::kReplay || graph->state != GraphState::kRecording) return;
  if (kind == NodeKind::kGroupEnd && producer->taskgroup->reductions != nullptr) graph->replayable = false;
  record_step(&graph->record, kind, nullptr, nullptr, 0);
}

void leave_renewed_iteration(Worker* worker) {
  if (!worker->task->has(task_flag::kInGraph)) return;
  PersistentGraph* graph = graph_of(worker->task);
  if (graph->is_renewed) go_on_unrecorded(worker, graph);
}

void persistent_note_undeferred(Task* producer) { graph_of(producer)->replayable = false; }

// The iterations.

namespace {

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
  if (repeat_told_iteration(graph)) return;
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

// Makes the graph ready for the iteration that begins, and selects its instance.
void prepare_iteration(PersistentGraph* graph) {
  end_told_iteration(graph);
  bool first = graph->state == GraphState::kUnused;
  if (graph->state == GraphState::kRecording) {
    ++graph->recorded;
  } else if (!first && !was_replayed(graph)) {
    graph->invalid = true;
  }
  graph->instance = first ? 0 : (graph->instance + 1) % graph->instances();
  if (first || graph->invalid) {
    graph->instance = 0;
    start_over(graph);
  } else if (graph->state == GraphState::kRecording && graph->recorded == graph->instances()) {
    graph->instance = 0;
    finish_recording(graph);
  } else if (graph->state == GraphState::kReplaying) {
    graph->previous_replayed = true;
    wait_for_iteration(graph, graph->instance);
  }
  graph->record.iteration = static_cast<uint8_t>(graph->instance);
}

void check_caller(const PersistentGraph* graph, const char* function) {
  const Task* task = this_worker()->task;
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
  if (!graph->open) enter_producer(graph);
  prepare_iteration(graph);
  graph->position = 0;
  graph->allocated = 0;
  graph->is_whole = graph->is_renewed = false;
  graph->producer->taskgroup = &graph->groups[graph->instance];
  begin_told_iteration(graph);
  if (graph->mode != GraphMode::kReplay || graph->state != GraphState::kReplaying || !graph->replayable) {
    renew_told_iteration(graph);
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

void graph_leave(PersistentGraph* graph) {
  if (!graph->open) return;
  end_told_iteration(graph);
  for (int i = 0; i < graph->instances(); ++i) wait_for_iteration(graph, i);
  graph->producer->flags &= ~task_flag::kInGraph;
  graph->producer->table = graph->producers_table;
  graph->producer->taskgroup = graph->producers_group;
  graph->open = false;
}

void graph_end(PersistentGraph* graph) {
  check_caller(graph, "marline_graph_end");
  graph_leave(graph);
  Worker* worker = this_worker();
  if (graph->table != nullptr) table_destroy(worker, graph->table);
  end_told(graph);
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
