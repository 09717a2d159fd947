// SPDX-License-Identifier: Apache-2.0
//
// Tasks that wait on a busy node and have not started, while another node is idle: a task of that node stands in. It
// gets its inputs from the busy node, where the task's place stays: homes, subscriptions and fetches that name it
// remain right. The busy node decides, since only it knows what has started. See docs/design/cluster.md.
#include "cluster/core/dataflow/head.hpp"

namespace marline::target {

// At each report, so the work is bounded: a few nodes are looked at, and a few of their tasks.
void Head::withdraw_for_idle(NodeNumber reporting) {
  constexpr int kAtMost = 8;
  for (int i = 0; i < kAtMost; ++i) {
    NodeNumber idle = placement.least_loaded();
    if (idle == 0 || static_cast<double>(nodes_[idle].open) >= placement.slots(idle)) return;
    if (nodes_[idle].credits <= 0) return;
    NodeNumber busy = find_busiest(reporting);
    if (busy == 0 || busy == idle || !withdraw_from(busy, idle)) return;
  }
}

// Among the node that has reported and the next few in turn.
NodeNumber Head::find_busiest(NodeNumber reporting) {
  constexpr int kLookedAt = 8;
  NodeNumber busiest = reporting;
  for (int i = 0; i < kLookedAt; ++i) {
    cursor_ = cursor_ % static_cast<NodeNumber>(options_.nodes) + 1;
    if (busiest == 0 || placement.load(cursor_) > placement.load(busiest)) busiest = cursor_;
  }
  return busiest;
}

// The youngest tasks have waited least, so they come last. True: one of them is asked for.
bool Head::withdraw_from(NodeNumber busy, NodeNumber idle) {
  constexpr uint64_t kLookedAt = 16;
  Window<TaskNumber>& assigned = assigned_[busy];
  uint64_t begin = assigned.end() - assigned.first() > kLookedAt ? assigned.end() - kLookedAt : assigned.first();
  if (static_cast<double>(nodes_[busy].open) <= placement.slots(busy)) return false;
  for (uint64_t index = assigned.end(); index-- > begin;) {
    TaskNumber number = assigned[index];
    if (has_ended(number) || is_replayed(number) || !can_stand_in(tasks_[number], idle)) continue;
    lend(number, idle);
    return true;
  }
  return false;
}

bool Head::can_stand_in(const Task& task, NodeNumber idle) {
  if (task.is_lent || task.is_stand_in || task.is_cancelled || task.made.pin != kAnyNode) return false;
  if (task.made.graph != 0) return false;  // a stand-in is no part of the plan
  if (!placement.may_run(task.request, idle)) return false;
  uint64_t moved = 0;  // there, and what is written back
  for (const TaskAccess& access : task.made.accesses) moved += access.range.bytes * (access.may_write ? 2 : 1);
  double end = placement.load(idle) + placement.time_with_transfer(task.request, idle, moved);
  return end < placement.load(task.place.node) && copies_.missing_room(buffers_of(task), idle) == 0;
}

void Head::lend(TaskNumber number, NodeNumber idle) {
  TaskNumber stand_in = tasks_.end();
  Task& made = tasks_.reach(stand_in);
  Task& task = tasks_[number];
  made.is_stand_in = task.is_lent = true;
  made.request = task.request;
  made.request.gap = 0;
  made.place.node = idle;
  ++under_way_;
  assign_index(stand_in);
  for (uint64_t buffer : buffers_of(task)) use(made, buffer, idle);  // the task, which ends later, uses all others
  placement.end(task.place.node, task.load);
  task.load = 0;
  ++counts.withdrawn;
  Message assignment = message_to(MessageKind::kAssign, idle);
  assignment.index = made.place.index;
  assignment.task = number;
  assignment.predecessors = 1;
  send(std::move(assignment));
  Message message = message_to(MessageKind::kWithdraw, task.place.node);
  message.index = task.place.index;
  message.peer = made.place;
  send(std::move(message));
}

}  // namespace marline::target
