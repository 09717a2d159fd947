// SPDX-License-Identifier: Apache-2.0
//
// The part of Head for persistent graphs. It passes its knowledge to Graphs (replay/graphs.hpp), and gives replayed
// tasks their indices, credits and load as it does for other tasks, but a batch at a time.
#include "cluster/dataflow/head.hpp"

#include <algorithm>

namespace marline::offload::cluster {

bool Head::has_ended(const TaskPlace& place) {
  Window<TaskNumber>& assigned = assigned_[place.node];
  return place.index < assigned.first() || (place.index < assigned.end() && has_ended(assigned[place.index]));
}

// All tasks created before must be planned before, even with `hold` or a window, because the directory's state decides
// on a replay.
bool Head::begin_iteration(GraphNumber graph, bool has_barrier) {
  cut_iteration();
  barrier();
  List<uint64_t> assigned;
  for (const Node& node : nodes_) assigned.push(node.assigned);
  bool is_replay = graphs_.begin(graph, has_barrier, next_ >= tasks_.end(), is_uneven(graph), assigned);
  end_recording();
  if (!is_replay) begin_recording();
  send_of_graphs();
  return is_replay;
}

// Whether the most loaded node of the plan has so much more work than it could have that recording the graph once more
// pays off, by the times of its tasks: sixteen iterations must save what the recording costs node 0. (The data that the
// plan moves is not considered.) The times of recorded iterations are judged once. Replays report only the time of all
// tasks of a node together, so a replay counts as imbalanced if the plan predicted a better balance from what was known
// when it was made.
bool Head::is_uneven(GraphNumber graph) {
  constexpr double kIterations = 16;
  if (placement.policy() != PlacementPolicy::kEarliestEnd) return false;
  Graphs::Times times;
  bool is_recorded = graphs_.sum_times(graph, times);
  if (!is_recorded && !graphs_.sum_replays(graph, options_.replays, times)) return false;
  double most = 0, all = 0, slots = 0, planned_most = 0, planned = 0;
  for (NodeNumber node = 1; node <= placement.members(); ++node) {
    if (placement.may_run({.kinds = times.kinds}, node)) slots += placement.slots(node);
    if (node >= times.loads.count()) continue;
    most = std::max(most, times.loads[node] / placement.slots(node));
    all += times.loads[node];
    if (is_recorded) continue;
    planned_most = std::max(planned_most, times.planned[node]);
    planned += times.planned[node] * placement.slots(node);
  }
  double least = is_recorded ? options_.imbalance_limit * std::max(slots > 0 ? all / slots : 0, times.longest)
                             : options_.replan_gain * (planned > 0 ? all * planned_most / planned : most);
  // least_time_ is ten times the time of planning a task.
  double to_record = 0.1 * least_time_ * static_cast<double>(times.tasks);
  bool is_found = kIterations * (most - least) > to_record;
  if (!is_recorded) graphs_.judge_replays(graph, is_found);
  return is_found;
}

// Replays create no tasks, so nodes get their work as fast as they can do it. While an iteration is being created,
// nodes may be idle, because its tasks come one by one and too slowly for them. So the placement counts the iteration's
// tasks as if none had ended, in the load of the nodes and in the number of tasks beside each other; the directory does
// the same.
bool Head::is_recorded(TaskNumber task) { return task >= recording_from_ && tasks_[task].made.graph != 0; }

// The work that nodes still have to do is not counted either, because later iterations will differ in it.
void Head::begin_recording() {
  recording_from_ = tasks_.end();
  batch_.begin_iteration(placement);
  for (TaskNumber number = tasks_.first(); number < tasks_.end(); ++number) {
    Task& task = tasks_[number];
    if (task.state != State::kPlanned || task.place.node == 0) continue;
    placement.end(task.place.node, task.load);
    if (task.is_runnable) runnable_.set(task.place.node, runnable_[task.place.node] - task.load);
    task.load = 0;
  }
  for (NodeNumber node = 1; node <= placement.members(); ++node) {
    if (nodes_[node].replayed != 0) placement.end(node, placement.load(node));
  }
  loaded_from_ = graphs_.next_number();
}

void Head::end_recording() {
  recording_from_ = kNone;
  for (TaskNumber task : recorded_ends_) leave_node(tasks_[task]);
  recorded_ends_.clear();
  drop_ended();
}

void Head::confirm() {
  graphs_.confirm();
  send_of_graphs();
}

void Head::cut_iteration() {
  if (!graphs_.is_replaying()) return;
  graphs_.cut();
  send_of_graphs();
}

void Head::end_iteration(GraphNumber graph) {
  if (recording_from_ != kNone) plan_held();  // as a part of the iteration
  graphs_.end(graph);
  end_recording();
  send_of_graphs();
}

void Head::end_graph(GraphNumber graph) {
  graphs_.remove(graph);
  send_of_graphs();
}

void Head::record(TaskNumber number, const Message& assignment) {
  const Task& task = tasks_[number];
  for (const CopyUse& use : task.uses) graphs_.record_use(task.made.graph, use);
  NodeNumber node = task.place.node;
  double time = node == 0 ? 0 : placement.expected_time_at(task.request, node) / placement.slots(node);
  graphs_.record(task.made, assignment, task.load, time);
}

void Head::learn(TaskNumber number, NodeNumber node, double time) {
  const Task& task = tasks_[number];
  bool is_usual = placement.learn(task.request, node, time);
  if (!is_usual || task.graph_place == Graphs::kNoPlace || placement.policy() != PlacementPolicy::kEarliestEnd) return;
  graphs_.note_time(task.made.graph, task.graph_place, task.request.bytes, node, time);
}

void Head::recall(Task& task) {
  const NewTask& made = task.made;
  PlacementRequest request = request_of(made);
  Graphs::Before before = graphs_.find_before(made, task.graph_place, request.bytes);
  if (placement.may_run(request, before.node)) task.node_before = before.node;
  if (before.timed_at != 0) task.weight = placement.weight_of(request, before.timed_at, before.time);
}

void Head::disturb_graphs(const Task& task) {
  for (const TaskAccess& access : task.made.accesses) graphs_.disturb(access.range.buffer, task.made.graph);
  for (uint64_t buffer : task.made.last_of) graphs_.disturb_end(buffer);
}

void Head::assign_replayed(const Message& message) {
  Node& node = nodes_[message.to];
  // No other task has got an index at this node since the iteration began: the first index has been sent to the peers.
  assert(message.words[2] + message.words[0] == node.assigned);
  add_open(message.to, message.count);
  node.replayed += message.count;
  under_way_ += message.count;
  planned_ += message.count;
  for (uint64_t end = node.assigned + message.count; node.assigned < end; ++node.assigned) {
    assigned_[message.to].reach(node.assigned) = message.task;
  }
  if (message.to != 0) placement.add_load(message.to, graphs_.load_of(message.task, message.to, message.count));
}

// If the batch has not been sent, its message is changed, as in leave_out. The iteration has been cut.
bool Head::leave_out_replayed(TaskNumber number) {
  assert(!graphs_.is_replaying());
  TaskPlace place = place_of(number);
  Node& node = nodes_[place.node];
  for (size_t i = node.next_waiting; i < node.waiting.count(); ++i) {
    Message& waiting = node.waiting[i];
    if (waiting.kind != MessageKind::kReplay) continue;
    ReplayBatch batch = Share::batch_of(waiting);
    if (place.index - batch.first_index < batch.from || place.index - batch.first_index >= batch.to) continue;
    Share::write_left_out(place.index - batch.first_index, waiting.words);
    return false;
  }
  messages.push(message_to(MessageKind::kCancel, place.node, place.index));
  return true;
}

void Head::end_replayed(NodeNumber node, TaskNumber number, const EndedTask& ended) {
  uint64_t count = ended.count;
  ended_before_ = std::max(ended_before_, tasks_.end());
  nodes_[node].open -= count;
  nodes_[node].replayed -= count;
  under_way_ -= count;
  planned_ -= count;
  if (node != 0 && number >= loaded_from_) placement.end(node, graphs_.load_of(number, node, count));
  graphs_.end_batch(number, node, count, ended.time);
  send_of_graphs();
}

void Head::send_of_graphs() {
  List<Message> made;
  made.swap(graphs_.messages);
  for (Message& message : made) {
    if (message.kind == MessageKind::kReplay) assign_replayed(message);
    message.clock = clock_;
    send(std::move(message));
  }
  List<uint64_t> gone;
  gone.swap(graphs_.gone_buffers);
  for (uint64_t buffer : gone) forget_buffer(buffer);
  for (TaskNumber first : graphs_.completed) completed_replays.push(first);
  graphs_.completed.clear();
}

}  // namespace marline::offload::cluster
