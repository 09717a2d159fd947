// SPDX-License-Identifier: Apache-2.0
//
// Makes speculative copies. If tasks that have not started wait on a busy node while another node is idle, the idle
// node runs a copy of one of them. The copy gets its inputs from the busy node, where the original task keeps its
// index, so homes, subscriptions and fetches that name it stay valid. The busy node decides, because only it knows
// which tasks have started. See docs/design/cluster-placement.md.
#include "cluster/dataflow/head.hpp"
#include "cluster/dataflow/worker.hpp"

namespace marline::offload::cluster {

void Head::note_open_predecessors(TaskNumber number) {
  Task& task = tasks_[number];
  for (TaskNumber before : task.made.predecessors) {
    if (is_replayed(before) || has_ended(before)) continue;
    tasks_[before].successors.push(number);
    ++task.open;
  }
  if (task.open == 0) add_runnable(number);
}

void Head::add_runnable(TaskNumber number) {
  Task& task = tasks_[number];
  NodeNumber node = task.place.node;
  if (node == 0) return;
  task.is_runnable = true;
  nodes_[node].runnable.push(number);
  runnable_.set(node, runnable_[node] + task.load);
}

void Head::remove_runnable(TaskNumber number) {
  Task& task = tasks_[number];
  if (!task.is_runnable) return;
  task.is_runnable = false;
  NodeNumber node = task.place.node;
  List<TaskNumber>& runnable = nodes_[node].runnable;
  size_t at = 0;
  while (runnable[at] != number) ++at;
  runnable.erase(at);
  runnable_.set(node, runnable.is_empty() ? 0 : runnable_[node] - task.load);
}

// A node's report may arrive before the report of a predecessor's end elsewhere, so some successors may have ended.
void Head::end_predecessor_of(const List<TaskNumber>& successors) {
  for (TaskNumber number : successors) {
    if (has_ended(number)) continue;
    if (--tasks_[number].open == 0) add_runnable(number);
  }
}

// The original task had started, so the speculative copy does not run.
void Head::take_back(TaskNumber number) {
  if (has_ended(number)) return;
  Task& task = tasks_[number];
  task.load = placement.begin(task.request, task.place.node);
  add_runnable(number);
}

// Called at each report, so the work is bounded: it examines a few nodes, and a few of their tasks.
void Head::withdraw_for_idle(NodeNumber reporting) {
  constexpr int kAtMost = 8;
  for (int i = 0; i < kAtMost; ++i) {
    NodeNumber idle = runnable_.least();
    if (idle == 0 || static_cast<double>(nodes_[idle].runnable.count()) >= placement.slots(idle)) return;
    if (nodes_[idle].replayed != 0) return;       // it is not known which of the replayed tasks run
    if (nodes_[idle].waiting_drops != 0) return;  // the copy's assignment must not overtake these drops
    NodeNumber busy = find_busiest(reporting);
    if (busy == 0 || busy == idle || !withdraw_from(busy, idle)) return;
  }
}

// Searches the node that has reported and the next few nodes in turn.
NodeNumber Head::find_busiest(NodeNumber reporting) {
  constexpr int kLookedAt = 8;
  NodeNumber busiest = reporting;
  for (int i = 0; i < kLookedAt; ++i) {
    cursor_ = cursor_ % static_cast<NodeNumber>(options_.nodes) + 1;
    if (busiest == 0 || runnable_[cursor_] > runnable_[busiest]) busiest = cursor_;
  }
  return busiest;
}

// How many tasks of a node may have ended without a report so far, if each of them takes that time.
size_t Head::most_unreported(NodeNumber node, double time) const {
  constexpr double kMost = Worker::kReportAtMost;
  double longest = options_.report_delay * placement.slots(node);
  return static_cast<size_t>(longest < kMost * time ? longest / time : kMost);
}

// The first tasks in the list run or have ended, as far as node 0 knows; the last ones would wait longest. True: a copy
// of one of them is requested. (Where tasks are short and node 0 is late, a node runs the tasks that node 0 believes to
// wait there.)
bool Head::withdraw_from(NodeNumber busy, NodeNumber idle) {
  constexpr size_t kLookedAt = 16;
  const List<TaskNumber>& runnable = nodes_[busy].runnable;
  if (runnable.is_empty()) return false;
  double time = placement.expected_time_at(tasks_[runnable[runnable.count() - 1]].request, busy);
  size_t running = static_cast<size_t>(placement.slots(busy)) + most_unreported(busy, time);
  for (size_t at = runnable.count(), looked = 0; at > running && looked < kLookedAt; ++looked) {
    TaskNumber number = runnable[--at];
    const Task& task = tasks_[number];
    if (task.place.index >= nodes_[busy].first_unsent || !can_be_speculative_copy(task, idle)) continue;
    lend(number, idle);
    return true;
  }
  return false;
}

// The work that the task's node has to run. Loads are estimates from when the tasks were placed. If this task is now
// known to take longer, all loads are scaled by the same factor.
double Head::time_of_runnable(const Task& task) const {
  NodeNumber node = task.place.node;
  double load = placement.expected_time_at(task.request, node) / placement.slots(node);
  return runnable_[node] * (load > task.load && task.load > 0 ? load / task.load : 1);
}

// The idle node has a free slot. Packing, merging and comparing the moved data takes time of both nodes that cannot be
// predicted. So that time must be a small part of the time saved on the busy node, which may be of another kind. The
// gain must also be half of the task's time or more, because node 0 pays with messages.
bool Head::can_be_speculative_copy(const Task& task, NodeNumber idle) {
  if (task.has_speculative_copy || task.is_speculative_copy || task.is_cancelled || task.made.pin != kAnyNode)
    return false;
  if (task.made.graph != 0) return false;  // a speculative copy cannot be part of the plan
  if (!placement.may_run(task.request, idle)) return false;
  uint64_t moved = 0;  // to the idle node, and the written data back
  for (const TaskAccess& access : task.made.accesses) moved += access.range.bytes * (access.may_write ? 2 : 1);
  constexpr double kLittle = 0.1, kGain = 0.5;
  double end = placement.time_with_transfer(task.request, idle, moved);
  double time = placement.expected_time_at(task.request, idle);
  NodeNumber busy = task.place.node;
  double spared = placement.expected_time_at(task.request, busy);
  if (end - time > kLittle * spared || end + kGain * time > time_of_runnable(task)) return false;
  return copies_.missing_room(buffers_of(task), idle) == 0;
}

void Head::lend(TaskNumber number, NodeNumber idle) {
  TaskNumber speculative_copy = tasks_.end();
  Task& made = tasks_.reach(speculative_copy);
  Task& task = tasks_[number];
  made.is_speculative_copy = task.has_speculative_copy = true;
  made.other = number;
  task.other = speculative_copy;
  if (due_ == speculative_copy) due_ = speculative_copy + 1;  // it is placed already
  made.request = task.request;
  made.request.gap = 0;
  made.place.node = idle;
  made.made.is_awaited = true;  // the original task ends with its copy
  ++under_way_;
  assign_index(speculative_copy);
  // The original task, which ends later, counts as the user of all other copies.
  for (uint64_t buffer : buffers_of(task)) use(made, buffer, idle);
  add_runnable(speculative_copy);
  remove_runnable(number);
  placement.end(task.place.node, task.load);
  task.load = 0;
  ++counts.withdrawn;
  Message assignment = message_to(MessageKind::kAssign, idle, made.place.index);
  assignment.task = number;
  assignment.predecessors = 1;
  assignment.is_awaited = true;
  assignment.priority = task.made.priority;
  assignment.order = task.order;
  // The copy takes no credit: the original task may wait for tasks that wait for a credit of the idle node.
  messages.push(std::move(assignment));
  Message message = message_to(MessageKind::kWithdraw, task.place.node, task.place.index);
  message.peer = made.place;
  messages.push(std::move(message));
}

}  // namespace marline::offload::cluster
