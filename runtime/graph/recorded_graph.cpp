// SPDX-License-Identifier: Apache-2.0
//
// Records, builds and replays the nodes of a persistent graph.
#include "graph/recorded_graph.hpp"

#include "config/options.hpp"
#include "graph/successors.hpp"
#include "sched/queue.hpp"
#include "tool/target_observer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace marline {

namespace {

using NodeFifo = Fifo<GraphNode, &GraphNode::next>;
constexpr uint32_t kNone = UINT32_MAX;

template <class T>
T* allocate_array(size_t count) {
  size_t bytes = (std::max<size_t>(count, 1) * sizeof(T) + kCacheLine - 1) & ~(kCacheLine - 1);
  auto* memory = static_cast<T*>(std::aligned_alloc(kCacheLine, bytes));
  if (memory == nullptr) fatal("no memory (%zu bytes) for a persistent graph", bytes);
  return memory;
}

void mark(Task* task, uint32_t index) {
  task->record_index = uintptr_t{index} << 1 | 1;
  task->inline_edges = 0;  // so all edges go to chunks
}

bool is_step(const RecordedNode& node) { return node.kind != NodeKind::kEmpty; }

bool same_dependences(const Dependence* a, const Dependence* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i].address != b[i].address || a[i].access != b[i].access) return false;
  }
  return true;
}

bool iterations_alike(const GraphRecord* record) {
  const Array<GraphStep>&a = record->steps[0], &b = record->steps[1];
  if (a.count != b.count) return false;
  for (uint32_t i = 0; i < a.count; ++i) {
    const GraphStep &s = a[i], &t = b[i];
    if (s.kind != t.kind || s.allocation != t.allocation || s.dependence_count != t.dependence_count) return false;
    if (!same_dependences(record->dependences[0].items + s.first_dependence,
                          record->dependences[1].items + t.first_dependence, s.dependence_count)) {
      return false;
    }
  }
  return true;
}

// The state of record_build. All instances are built after one template: the nodes of the last recorded iteration, with
// the edges to them from nodes of the same iteration and of the iteration before. The iterations before the template
// may also have edges from tasks that were in the producer's dependence table before the graph began. Later iterations
// have no such edges.
struct Builder {
  GraphRecord* record;
  // By recorded node: the index of the node that represents it in each instance; kNone: it is not represented.
  uint32_t* place;
  // By node of an instance: the number of its predecessors.
  uint32_t* predecessors;
  // By node of an instance: how many of these predecessors are in the iteration before.
  uint32_t* crossing;

  uint8_t last() const { return static_cast<uint8_t>(record->instances - 1); }
  bool crosses(const RecordedEdge& edge) const { return record->nodes[edge.from].iteration != last(); }

  // A gather node without a recorded predecessor represents tasks from before the graph, which have ended.
  bool is_dead(uint32_t node) const { return node >= record->steps[0].count && predecessors[node] == 0; }

  bool is_kept(const RecordedEdge& edge) const {
    return record->nodes[edge.to].iteration == last() && place[edge.from] != kNone && !is_dead(place[edge.from]);
  }
};

// Nodes of steps have the number of their step; the gather nodes of the template follow.
void place_template(Builder& builder) {
  GraphRecord* record = builder.record;
  uint32_t count = record->steps[0].count;
  for (uint32_t i = 0; i < record->nodes.count; ++i) {
    const RecordedNode& node = record->nodes[i];
    builder.place[i] = is_step(node) ? node.step : node.iteration == builder.last() ? count++ : kNone;
  }
  record->node_count = count;
}

// A gather node of the earlier iteration corresponds to the one that the same access made in the template. If there is
// none, it gathers only tasks from before the graph. The nodes of both iterations are in the order of their steps.
void place_earlier_gathers(Builder& builder) {
  Array<RecordedNode>& nodes = builder.record->nodes;
  uint32_t first = 0;
  while (first < nodes.count && nodes[first].iteration != builder.last()) ++first;
  uint32_t candidate = first;
  for (uint32_t i = 0; i < first; ++i) {
    if (is_step(nodes[i])) continue;
    while (candidate < nodes.count && nodes[candidate].step < nodes[i].step) ++candidate;
    for (uint32_t j = candidate; j < nodes.count && nodes[j].step == nodes[i].step; ++j) {
      if (!is_step(nodes[j]) && nodes[j].address == nodes[i].address) builder.place[i] = builder.place[j];
    }
  }
}

void count_predecessors(Builder& builder) {
  GraphRecord* record = builder.record;
  for (const RecordedEdge& edge : record->edges) {
    if (record->nodes[edge.to].iteration != builder.last() || builder.place[edge.from] == kNone) continue;
    uint32_t to = builder.place[edge.to];
    ++builder.predecessors[to];
    if (builder.crosses(edge)) ++builder.crossing[to];
  }
}

// Only gather nodes are dead, and their successors are tasks, so one pass is enough.
void discount_the_dead(Builder& builder) {
  GraphRecord* record = builder.record;
  for (const RecordedEdge& edge : record->edges) {
    uint32_t from = builder.place[edge.from];
    if (record->nodes[edge.to].iteration != builder.last() || from == kNone || !builder.is_dead(from)) continue;
    uint32_t to = builder.place[edge.to];
    --builder.predecessors[to];
    if (builder.crosses(edge)) --builder.crossing[to];
  }
}

void make_nodes(Builder& builder, int instance) {
  GraphRecord* record = builder.record;
  uint32_t steps = record->steps[0].count;
  GraphNode* nodes = record->instance[instance] = allocate_array<GraphNode>(record->node_count);
  for (uint32_t n = 0; n < record->node_count; ++n) {
    auto required = static_cast<int32_t>(builder.predecessors[n] + (n < steps ? 1 : 0));
    const GraphStep* step = n < steps ? &record->steps[instance][n] : nullptr;
    Task* task = step != nullptr && step->kind == NodeKind::kTask ? step->task : nullptr;
    new (&nodes[n]) GraphNode{.task = task,
                              .waiting = required,
                              .required = required,
                              .successors = nullptr,
                              .successor_count = 0,
                              .kind = step != nullptr ? step->kind : NodeKind::kEmpty,
                              .priority = 0,
                              .first_predecessor = 0,
                              .event = nullptr,
                              .next = nullptr,
                              .number = task != nullptr ? GraphNode::kEnded : 0};
    if (task != nullptr) task->node = &nodes[n];
  }
}

// Newest successor first, as in the edge lists of tasks that are not recorded.
void make_successors(Builder& builder) {
  GraphRecord* record = builder.record;
  size_t kept = 0;
  for (const RecordedEdge& edge : record->edges) {
    if (!builder.is_kept(edge)) continue;
    ++kept;
    for (int i = 0; i < record->instances; ++i) ++record->instance[i][builder.place[edge.from]].successor_count;
  }
  record->successors = allocate_array<GraphNode*>(kept * static_cast<size_t>(record->instances));
  GraphNode** at = record->successors;
  for (int i = 0; i < record->instances; ++i) {
    for (uint32_t n = 0; n < record->node_count; ++n) {
      at += record->instance[i][n].successor_count;
      // Points to the slice's end here; filling the slice below moves it to the beginning.
      record->instance[i][n].successors = at;
    }
  }
  for (const RecordedEdge& edge : record->edges) {
    if (!builder.is_kept(edge)) continue;
    for (int i = 0; i < record->instances; ++i) {
      int target = builder.crosses(edge) ? (i + 1) % record->instances : i;
      *--record->instance[i][builder.place[edge.from]].successors = &record->instance[target][builder.place[edge.to]];
    }
  }
}

// Lists each node's predecessors for the observer of target tasks, in the order in which their edges were made.
void make_predecessors(Builder& builder) {
  GraphRecord* record = builder.record;
  uint32_t at = 0;
  for (int i = 0; i < record->instances; ++i) {
    for (uint32_t n = 0; n < record->node_count; ++n) {
      // Filling the slice below counts it up to the slice's end; then it is set back.
      record->instance[i][n].first_predecessor = at;
      at += builder.predecessors[n];
    }
  }
  record->predecessors = allocate_array<GraphNode*>(at);
  for (const RecordedEdge& edge : record->edges) {
    if (!builder.is_kept(edge)) continue;
    for (int i = 0; i < record->instances; ++i) {
      int target = builder.crosses(edge) ? (i + 1) % record->instances : i;
      GraphNode& to = record->instance[target][builder.place[edge.to]];
      record->predecessors[to.first_predecessor++] = &record->instance[i][builder.place[edge.from]];
    }
  }
  for (int i = 0; i < record->instances; ++i) {
    for (uint32_t n = 0; n < record->node_count; ++n)
      record->instance[i][n].first_predecessor -= builder.predecessors[n];
  }
}

// The next iteration, of instance 0, follows recorded iterations that have ended, so its nodes do not wait for the
// tasks of these.
void apply_ended_iterations(Builder& builder) {
  GraphRecord* record = builder.record;
  GraphNode* nodes = record->instance[0];
  for (uint32_t n = 0; n < record->node_count; ++n) {
    nodes[n].waiting.store(nodes[n].required - static_cast<int32_t>(builder.crossing[n]), relaxed);
  }
  // A gather node whose predecessors have all ended counts as reached.
  for (uint32_t n = record->steps[0].count; n < record->node_count; ++n) {
    if (builder.predecessors[n] == 0 || nodes[n].waiting.load(relaxed) != 0) continue;
    nodes[n].waiting.store(nodes[n].required, relaxed);
    for (uint32_t i = 0; i < nodes[n].successor_count; ++i) nodes[n].successors[i]->waiting.fetch_sub(1, relaxed);
  }
}

// Creates one exclusion per address for all instances. Sets of one address that used different exclusions are ordered
// anyway.
void unify_exclusions(Worker* worker, GraphRecord* record) {
  Array<AddressExclusion>& all = record->exclusions;
  for (const Dependence& d : record->dependences[0]) {
    if (d.access == Access::kMutexinoutset) all.push({d.address, nullptr});
  }
  if (all.count == 0) return;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  auto* end = std::unique(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.address == b.address; });
  all.count = static_cast<uint32_t>(end - all.begin());
  for (AddressExclusion& one : all) one.exclusion = exclusion_create(worker);
  for (int i = 0; i < record->instances; ++i) {
    for (const GraphStep& step : record->steps[i]) {
      if (step.kind != NodeKind::kTask) continue;
      exclusions_drop(worker, step.task);
      for (uint32_t d = 0; d < step.dependence_count; ++d) {
        const Dependence& dependence = record->dependences[i][step.first_dependence + d];
        if (dependence.access != Access::kMutexinoutset) continue;
        exclusion_add(worker, step.task, recorded_exclusion(record, dependence.address));
      }
    }
  }
}

}  // namespace

uint32_t record_step(GraphRecord* record, NodeKind kind, Task* task, const Dependence* list, size_t count) {
  int i = record->iteration;
  GraphStep step{task, record->dependences[i].count, static_cast<uint32_t>(count), kNone, kind, false};
  for (size_t d = 0; d < count; ++d) record->dependences[i].push(list[d]);
  uint32_t index = record->steps[i].push(step);
  record->current = record->nodes.push({task, nullptr, index, kNone, record->iteration, kind});
  return index;
}

void record_as_current(GraphRecord* record, Task* task) {
  record->nodes[record->current].task = task;
  mark(task, record->current);
}

void record_gather(GraphRecord* record, Task* node, void* address) {
  uint32_t step = record->nodes[record->current].step;
  mark(node, record->nodes.push({node, address, step, kNone, record->iteration, NodeKind::kEmpty}));
}

void record_edge(GraphRecord* record, const Task* from, const Task* to) {
  uintptr_t index = from->record_index >> 1;
  if (!is_recorded(from) || index >= record->nodes.count || record->nodes[static_cast<uint32_t>(index)].task != from) {
    return;  // from before the graph
  }
  RecordedEdge edge{static_cast<uint32_t>(index), static_cast<uint32_t>(to->record_index >> 1)};
  uint32_t& last = record->nodes[edge.from].last_successor;
  if (last != edge.to) record->edges.push(edge);
  last = edge.to;
}

bool record_build(Worker* worker, GraphRecord* record, int instances) {
  record->instances = instances;
  if (instances > 1 && !iterations_alike(record)) return false;
  Builder builder{record, allocate_array<uint32_t>(record->nodes.count), nullptr, nullptr};
  place_template(builder);
  if (instances > 1) place_earlier_gathers(builder);
  builder.predecessors = static_cast<uint32_t*>(std::calloc(2 * size_t{record->node_count} + 1, sizeof(uint32_t)));
  if (builder.predecessors == nullptr) fatal("no memory for a persistent graph of %u nodes", record->node_count);
  builder.crossing = builder.predecessors + record->node_count;
  unify_exclusions(worker, record);
  count_predecessors(builder);
  discount_the_dead(builder);
  for (int i = 0; i < instances; ++i) make_nodes(builder, i);
  make_successors(builder);
  if (tool::on(tool::event::kTargetTasks)) make_predecessors(builder);
  if (instances > 1) apply_ended_iterations(builder);
  if (options().priority.propagates) record_propagate(record);
  std::free(builder.place);
  std::free(builder.predecessors);
  record->nodes.clear();
  record->edges.clear();
  return true;
}

void record_clear(Worker* worker, GraphRecord* record) {
  for (AddressExclusion& one : record->exclusions) exclusion_release(worker, one.exclusion);
  record->exclusions.clear();
  record->nodes.clear();
  record->edges.clear();
  record->iteration = 0;
  for (int i = 0; i < GraphRecord::kInstances; ++i) {
    record->steps[i].clear();
    record->dependences[i].clear();
    std::free(record->instance[i]);
    record->instance[i] = nullptr;
  }
  std::free(record->successors);
  std::free(record->predecessors);
  record->successors = record->predecessors = nullptr;
}

void record_free(Worker* worker, GraphRecord* record) {
  record_clear(worker, record);
  record->nodes.free();
  record->edges.free();
  record->exclusions.free();
  for (int i = 0; i < GraphRecord::kInstances; ++i) {
    record->steps[i].free();
    record->dependences[i].free();
  }
}

bool step_matches(const GraphRecord* record, const GraphStep& step, NodeKind kind, const Dependence* list,
                  size_t count) {
  return step.kind == kind && step.dependence_count == count &&
         same_dependences(list, record->dependences[record->instances - 1].items + step.first_dependence, count);
}

Exclusion* recorded_exclusion(const GraphRecord* record, void* address) {
  const Array<AddressExclusion>& all = record->exclusions;
  const AddressExclusion* begin = all.items;
  const AddressExclusion* end = begin + all.count;
  const auto* at =
      std::lower_bound(begin, end, address, [](const AddressExclusion& a, void* b) { return a.address < b; });
  return at != end && at->address == address ? at->exclusion : nullptr;
}

namespace {

// A plain store: no thread counts the node down before the task that is made ready here has ended (invariant in the
// header).
void rearm(GraphNode* node) { node->waiting.store(node->required, relaxed); }

void count_down_successors(GraphNode* node, TaskFifo& ready, NodeFifo& reached) {
  // Locked subtractions wait for one another; the loads of the cache lines need not.
  for (uint32_t i = 0; i < node->successor_count; ++i) __builtin_prefetch(node->successors[i], 1);
  for (uint32_t i = 0; i < node->successor_count; ++i) {
    GraphNode* successor = node->successors[i];
    // acq_rel: releases the predecessor's effects; the thread that makes the successor ready acquires the effects of
    // all predecessors.
    if (successor->waiting.fetch_sub(1, acq_rel) != 1) continue;
    rearm(successor);
    if (successor->kind != NodeKind::kTask) {
      reached.push_back(successor);
    } else if (successor->task->has(task_flag::kClaimed)) [[unlikely]] {
      report_recorded_ready(successor->task);
    } else if (exclusions_take(successor->task)) {
      ready.push_back(successor->task);
    }
  }
}

// Nodes without a task end when they are reached.
void finish_reached(Worker* worker, NodeFifo& reached, TaskFifo& ready) {
  while (GraphNode* node = reached.pop_front()) {
    Event* event = node->kind == NodeKind::kWait ? node->event : nullptr;
    count_down_successors(node, ready, reached);
    if (event != nullptr) fulfil(worker, event);
  }
}

}  // namespace

bool release_guard(GraphNode* node) {
  // If only the guard is left, no other thread touches the node, and no atomic subtraction is needed. acquire, acq_rel:
  // the predecessors' effects are visible here (count_down_successors), and the producer's to the thread that reaches
  // the node.
  if (node->waiting.load(acquire) != 1 && node->waiting.fetch_sub(1, acq_rel) != 1) return false;
  rearm(node);
  return true;
}

// Until this call the task has a predecessor, which the thread that ends the task checks (exec/worker/completion.cpp).
void report_recorded_ready(Task* task) {
  task->predecessors.store(0, release);  // pairs with the acquire in completion.cpp
  tool::report_ready(task->claimed_by);
}

void release_empty(Worker* worker, GraphNode* node) {
  if (!release_guard(node)) return;
  NodeFifo reached;
  TaskFifo ready;
  reached.push_back(node);
  finish_reached(worker, reached, ready);
  while (Task* task = ready.pop_front()) enqueue(worker, task);
}

void notify_recorded(Worker* worker, Task* task, TaskFifo& ready) {
  NodeFifo reached;
  count_down_successors(task->node, ready, reached);
  finish_reached(worker, reached, ready);
}

}  // namespace marline
