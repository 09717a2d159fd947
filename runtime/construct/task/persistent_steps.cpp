// SPDX-License-Identifier: Apache-2.0
//
// Records the constructs of an iteration, and replays them.
//
// Two sequences describe an iteration: the descriptors in the order of their allocation, and the constructs (tasks,
// waits) in the order of their execution. The orders differ: a compiler allocates a taskloop's pattern first and spawns
// it last, or never.
#include "construct/task/persistent_steps.hpp"

#include "base/check.hpp"
#include "base/sanitizer.hpp"
#include "construct/task/awaited.hpp"
#include "graph/dependences.hpp"

#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr uint32_t kCompared = task_flag::kTied | task_flag::kFinal | task_flag::kDetach | task_flag::kMergeable;
// Flags of tasks that cannot be copied byte by byte; and all flags that a task may start with.
constexpr uint32_t kUncopied = task_flag::kObjects | task_flag::kDestroys;
constexpr uint32_t kKept = kCompared | kUncopied | task_flag::kLabelled | ~0u << task_flag::kDomainShift;

}  // namespace

bool same_shape(const TaskShape& a, const TaskShape& b) {
  return a.code == b.code && a.invoke == b.invoke && a.block_bytes == b.block_bytes && a.block_align == b.block_align &&
         ((a.flags ^ b.flags) & kCompared) == 0;
}

// Waits for the instance's tasks. Then resets the group, which may be waited for again before the instance's next
// iteration.
void wait_for_iteration(PersistentGraph* graph, int instance) {
  Taskgroup* group = &graph->groups[instance];
  taskgroup_wait(graph->producer, group);
  tsan_acquire(group);  // pairs with the end of each task of the group (exec/worker/run_task.cpp)
  taskgroup_init(group, graph->producer, graph->producers_group, false);
}

void begin_replay_of(Worker* worker, Task* task, const TaskShape& shape) {
  begin_another_life(worker, task, shape);
  task->flags |= task_flag::kPersistent | task_flag::kReplayed;
  task->successors.store(nullptr, relaxed);
  task->last_successor = task;
  task->table_references = 0;
}

namespace {

// Waits on this thread: the caller continues with what it knows of it.
void wait_here_for_iteration(PersistentGraph* graph) {
  Task* producer = graph->producer;
  bool moves = !producer->has(task_flag::kImplicit | task_flag::kPinned);
  if (moves) producer->flags |= task_flag::kPinned;
  wait_for_iteration(graph, graph->instance);
  if (moves) producer->flags &= ~task_flag::kPinned;
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
  end_reported_iteration(graph);
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

}  // namespace marline
