// SPDX-License-Identifier: Apache-2.0
//
// Repeats iterations of persistent graphs as replays of the cluster's Head (cluster/replay/graphs.hpp).
#include "device/cluster/head/graphs.hpp"

#include "device/cluster/protocol/statistics.hpp"

namespace marline::offload::device {

namespace {

// After so many replayed tasks for each node, the nodes are sent these tasks, although the iteration has not ended. The
// program takes about 10 microseconds for so many tasks.
constexpr uint64_t kTasksPerNode = 16, kNewArgumentsPerNode = 64;

}  // namespace

void write_used(const ClusterBuffer& buffer, const ClusterRange& range, bool may_write, NodeNumber node,
                BlobWriter& blob) {
  for (uint64_t word :
       {buffer.number, buffer.address_at(node), buffer.bytes(), range.offset, range.bytes, uint64_t{may_write}}) {
    blob.put(word);
  }
}

// Returns null if the plan has been given up: then all its nodes have been sent kUnplan.
ClusterGraphs::KeptForms* ClusterGraphs::plan_of(uint64_t number) {
  KeptForms* kept = plans_.find(number);
  return kept != nullptr && kept->nodes != 0 ? kept : nullptr;
}

// Forgets the plan if it has been given up and no replay of it is left.
void ClusterGraphs::forget_plan(uint64_t number) {
  KeptForms* kept = plans_.find(number);
  if (kept == nullptr || kept->nodes != 0) return;
  for (const Replay& replay : replays_) {
    if (replay.plan == number) return;
  }
  plans_.erase(kept);
}

ClusterGraphs::Graph& ClusterGraphs::graph_of(GraphNumber number) {
  Graph* found = graphs_.find(number);
  return found != nullptr ? *found : graphs_.add(number);
}

bool ClusterGraphs::begin(GraphNumber number, bool has_barrier, uint64_t uses) {
  Graph& graph = graph_of(number);
  graph.uses_before = graph.uses;
  graph.uses = uses;
  const Plan* plan = head_.kept_plan(number);
  uint64_t before = plan != nullptr ? plan->number : 0;
  bool is_replay = head_.begin_iteration(number, has_barrier);
  plan = head_.kept_plan(number);
  if (plan != nullptr && plan->number != before) {  // the iteration before has become a plan
    assert(graph.forms.count() == plan->tasks.count());
    KeptForms& kept = plans_.add(plan->number);
    kept.nodes = plan->members.count();
    kept.forms.swap(graph.forms);
  }
  graph.forms.clear();
  graph.next = 0;
  graph.plan = is_replay ? plan->number : 0;
  if (!is_replay) return false;
  graph.first = head_.number_of(number, 0);
  replays_.push({graph.first, graph.plan, 0, {}});
  return may_repeat_all(graph, uses);
}

void ClusterGraphs::end(GraphNumber number) {
  Graph& graph = graph_of(number);
  note_repeated(graph, graph.uncounted, nullptr);
  graph.uncounted = 0;
  head_.end_iteration(number);
  const KeptForms* kept = plan_of(graph.plan);
  graph.replayed = kept != nullptr && graph.next == kept->forms.count() ? graph.plan : 0;
  graph.plan = 0;
}

void ClusterGraphs::remove(GraphNumber number) {
  Graph* graph = graphs_.find(number);
  if (graph == nullptr) return;
  graphs_.erase(graph);
  head_.end_graph(number);
}

// Whether the graph's next task in the plan is the same kernel and uses the same data.
bool ClusterGraphs::is_same(Graph& graph, const KernelForm& form, const NewTask& task) {
  // Null if the plan has been given up.
  const KeptForms* kept = plan_of(graph.plan);
  return kept != nullptr && graph.next < kept->forms.count() && kept->forms[graph.next].starts_as(form) &&
         head_.is_next(task);
}

// Adds tasks, and an operation that may be null, to the graph's replay.
void ClusterGraphs::note_repeated(const Graph& graph, uint64_t tasks, Operation* operation) {
  for (Replay& replay : replays_) {
    if (replay.first != graph.first) continue;
    replay.tasks += tasks;
    if (operation != nullptr) replay.operations.push(operation);
    count_up(cluster_statistics().under_way, static_cast<int64_t>(tasks));
  }
}

bool ClusterGraphs::repeat(GraphNumber number, const KernelForm& form, const NewTask& task, Operation* operation,
                           TaskNumber& task_number) {
  Graph& graph = graph_of(number);
  if (graph.plan == 0) return false;
  if (!is_same(graph, form, task) || !head_.replay_next(number, task.words.begin(), task.words.count())) {
    graph.plan = 0;
    head_.cut_iteration();
    return false;
  }
  task_number = graph.first + graph.next++;
  note_repeated(graph, 1, operation);
  if (graph.next % (kTasksPerNode * plan_of(graph.plan)->nodes) == 0) head_.confirm();
  return true;
}

bool ClusterGraphs::repeat_all(GraphNumber number, uint64_t uses, Operation* operation, TaskNumber& task_number) {
  Graph& graph = graph_of(number);
  if (!may_repeat_all(graph, uses) || !head_.replay_all(number)) return false;
  graph.next = plan_of(graph.plan)->forms.count();
  task_number = graph.first;
  note_repeated(graph, graph.next, operation);
  ++repeated_whole_;
  return true;
}

// Whether the plan can replay the iteration, which has no kernel yet, as a whole: see repeat_all in the header.
bool ClusterGraphs::may_repeat_all(const Graph& graph, uint64_t uses) {
  bool has_plan = graph.plan != 0 && plan_of(graph.plan) != nullptr;
  return has_plan && graph.replayed == graph.plan && graph.uses_before == uses && graph.next == 0;
}

bool ClusterGraphs::renew(GraphNumber number, uint64_t uses, Operation* operation, TaskNumber& task_number) {
  Graph& graph = graph_of(number);
  if (!may_repeat_all(graph, uses) || !head_.is_replaying(number)) return false;
  task_number = graph.first;
  note_repeated(graph, 0, operation);
  ++repeated_whole_;
  return true;
}

bool ClusterGraphs::renew_next(GraphNumber number, uint64_t uses, const ChangedWord* words, size_t count,
                               uint32_t first, bool& is_reported) {
  Graph& graph = graph_of(number);
  // Null if the plan has been given up.
  const KeptForms* kept = graph.plan != 0 ? plan_of(graph.plan) : nullptr;
  if (kept == nullptr || graph.uses != uses || !head_.replay_next_with(number, words, count, first)) {
    graph.plan = 0;
    head_.cut_iteration();
    return false;
  }
  ++graph.next;
  ++graph.uncounted;
  is_reported = graph.next % (kNewArgumentsPerNode * kept->nodes) == 0;
  if (!is_reported) return true;
  note_repeated(graph, graph.uncounted, nullptr);
  graph.uncounted = 0;
  head_.confirm();
  return true;
}

void ClusterGraphs::write_kernels(const Message& plan, ClusterMemory& memory, BlobWriter& blob) {
  const KeptForms& kept = *plan_of(plan.index);
  Share share;
  share.read(plan);
  for (const PlanStep& step : share.steps()) {
    uint64_t count = 0;
    size_t at = blob.bytes();
    blob.put(0);
    for (const PlanAccess& planned : step.accesses) {
      const ClusterRange& range = planned.access.range;
      const ClusterBuffer* buffer = memory.known(range.buffer);
      // The buffer has been released. The plan will be given up before a task of it is replayed.
      if (buffer == nullptr) continue;
      write_used(*buffer, range, planned.access.may_write, plan.to, blob);
      ++count;
    }
    blob.set(at, count);
    kept.forms[step.task].write(plan.to, blob);
  }
}

void ClusterGraphs::note_unplan(uint64_t plan) {
  if (--plan_of(plan)->nodes == 0) forget_plan(plan);
}

const KernelForm& ClusterGraphs::kernel_of(TaskNumber replayed) {
  Graphs& graphs = head_.graphs();
  return plans_.find(graphs.plan_of(replayed))->forms[replayed - graphs.first_number_of(replayed)];
}

void ClusterGraphs::begin_again(TaskNumber first) {
  for (Replay& replay : replays_) replay.open += replay.first == first ? 1 : 0;
}

void ClusterGraphs::end_again(TaskNumber first) {
  for (Replay& replay : replays_) replay.open -= replay.first == first ? 1 : 0;
}

void ClusterGraphs::take_ended(List<Operation*>& finished) {
  for (TaskNumber first : head_.completed_replays) {
    for (Replay& replay : replays_) replay.has_ended = replay.has_ended || replay.first == first;
  }
  head_.completed_replays.clear();
  for (size_t i = 0; i < replays_.count();) {
    if (!replays_[i].has_ended || replays_[i].open != 0) {
      ++i;
      continue;
    }
    for (Operation* operation : replays_[i].operations) finished.push(operation);
    count_up(cluster_statistics().under_way, -static_cast<int64_t>(replays_[i].tasks));
    const uint64_t plan = replays_[i].plan;
    replays_.erase(i);
    forget_plan(plan);
  }
}

}  // namespace marline::offload::device
