// SPDX-License-Identifier: Apache-2.0
//
// Counts transfers as PlanRun makes them: the output of a task is sent to each node with readers once, as many bytes as
// the largest reader there gets.
#include "cluster/placement/balance.hpp"

#include <algorithm>

namespace marline::offload::cluster {

void Balance::improve(const Placement& placement, const List<BatchTask>& tasks, const PlanRun& run,
                      const NodeWork& done, List<NodeNumber>& nodes) {
  constexpr size_t kLooksPerTask = 64;
  placement_ = &placement;
  tasks_ = &tasks;
  run_ = &run;
  nodes_ = &nodes;
  left_ = kLooksPerTask * tasks.count();
  work_.copy(done);
  computing_.copy(placement.loads());
  at_.clear();
  next_.clear();
  got_.clear();
  for (NodeNumber node = 0; node <= placement.members(); ++node) {
    if (node != 0) computing_.set(node, work_.computing[node]);
    at_.push({});
    next_.push(0);
    got_.push(0);
  }
  for (uint32_t task = 0; task < tasks.count(); ++task) {
    at_[nodes[task]].push(task);
    add_own(task, 1);
    add_output(task, 1);
  }
  while (left_ != 0 && placement.members() > 1) {
    Move found = find_move(busiest());
    if (found.to == 0) return;
    List<uint32_t>& there = at_[nodes[found.task]];
    size_t at = static_cast<size_t>(std::find(there.begin(), there.end(), found.task) - there.begin());
    there.erase(at);
    at_[found.to].push(found.task);
    move(found.task, found.to);
  }
}

void Balance::add_own(uint32_t number, double sign) {
  const BatchTask& task = (*tasks_)[number];
  NodeNumber node = (*nodes_)[number];
  if (node != 0) {
    work_.computing[node] += sign * placement_->expected_time_at(task.request, node) / placement_->slots(node);
    computing_.set(node, std::max(work_.computing[node], 0.0));
  }
  if (uint64_t outside = task.missing_at(node); outside != 0) {
    work_.sending[task.source()] += sign * placement_->transfer_time(outside);
    work_.receiving[node] += sign * placement_->transfer_time(outside);
  }
}

void Balance::add_output(uint32_t number, double sign) {
  NodeNumber from = (*nodes_)[number];
  for (const PlanRun::Reader& reader : run_->readers_of(number)) {
    NodeNumber to = (*nodes_)[reader.task];
    if (to != from && reader.bytes > got_[to]) {
      double time = sign * placement_->transfer_time(reader.bytes - got_[to]);
      work_.sending[from] += time;
      work_.receiving[to] += time;
      got_[to] = reader.bytes;
    }
  }
  for (const PlanRun::Reader& reader : run_->readers_of(number)) got_[(*nodes_)[reader.task]] = 0;
}

void Balance::move(uint32_t number, NodeNumber to) {
  const List<BatchInput>& inputs = (*tasks_)[number].inputs;
  for (const BatchInput& input : inputs) add_output(input.producer, -1);
  add_output(number, -1);
  add_own(number, -1);
  (*nodes_)[number] = to;
  add_own(number, 1);
  add_output(number, 1);
  for (const BatchInput& input : inputs) add_output(input.producer, 1);
}

// The most work of any node, except node 0, that takes part in the task.
double Balance::most_beside(uint32_t number) const {
  const BatchTask& task = (*tasks_)[number];
  double most = 0;
  auto add = [&](NodeNumber node) {
    if (node != 0) most = std::max(most, work_.most_of(node));
  };
  add((*nodes_)[number]);
  if (task.outside != 0) add(task.source());
  for (const BatchInput& input : task.inputs) add((*nodes_)[input.producer]);
  for (const PlanRun::Reader& reader : run_->readers_of(number)) add((*nodes_)[reader.task]);
  return most;
}

bool Balance::may_move(uint32_t number) const {
  const BatchTask& task = (*tasks_)[number];
  if (!task.is_free()) return false;
  PlanRun::Readers readers = run_->readers_of(number);
  size_t neighbours = task.inputs.count() + static_cast<size_t>(readers.end() - readers.begin());
  for (const BatchInput& input : task.inputs) {
    PlanRun::Readers others = run_->readers_of(input.producer);
    neighbours += static_cast<size_t>(others.end() - others.begin());
  }
  return neighbours <= kMostNeighbours;
}

void Balance::find_targets(uint32_t number) {
  const BatchTask& task = (*tasks_)[number];
  targets_.clear();
  auto add = [&](NodeNumber node) {
    bool is_known = std::find(targets_.begin(), targets_.end(), node) != targets_.end();
    if (!is_known && node != (*nodes_)[number] && placement_->may_run(task.request, node)) targets_.push(node);
  };
  for (const BatchInput& input : task.inputs) add((*nodes_)[input.producer]);
  for (const PlanRun::Reader& reader : run_->readers_of(number)) add((*nodes_)[reader.task]);
  add(computing_.least());
}

// Makes each move, computes its result, and undoes it.
void Balance::look_at(uint32_t number, Move& best) {
  NodeNumber from = (*nodes_)[number];
  find_targets(number);
  for (NodeNumber to : targets_) {
    if (left_ == 0) return;
    --left_;
    move(number, to);
    double most = std::max(most_beside(number), work_.most_of(from));
    move(number, from);
    if (most < best.most) best = {number, to, most};
  }
}

// Examines moves of some of the node's tasks, in turn, and returns the best one after which all nodes involved have
// less work than that node has now. If there is none, it examines other tasks.
Balance::Move Balance::find_move(NodeNumber busiest) {
  constexpr size_t kSome = 64;
  Move best;
  best.most = (1 - 1e-9) * work_.most_of(busiest);
  const List<uint32_t>& tasks = at_[busiest];
  for (size_t looked = 0; looked < tasks.count() && left_ != 0; ++looked) {
    if (best.to != 0 && looked % kSome == 0) break;
    next_[busiest] = next_[busiest] + 1 < tasks.count() ? next_[busiest] + 1 : 0;
    look_around(tasks[next_[busiest]], busiest, best);
  }
  return best;
}

// Examines a task of the node and, if sending is the largest part of the node's work, the tasks that it sends to.
void Balance::look_around(uint32_t number, NodeNumber busiest, Move& best) {
  if (may_move(number)) look_at(number, best);
  if (work_.sending[busiest] < work_.most_of(busiest)) return;
  for (const PlanRun::Reader& reader : run_->readers_of(number)) {
    if (left_ == 0) return;
    --left_;
    if ((*nodes_)[reader.task] != busiest && may_move(reader.task)) look_at(reader.task, best);
  }
}

// Nothing can be moved away from node 0, so it does not count.
NodeNumber Balance::busiest() const {
  NodeNumber busiest = 1;
  for (NodeNumber node = 2; node < work_.computing.count(); ++node) {
    if (work_.most_of(node) > work_.most_of(busiest)) busiest = node;
  }
  return busiest;
}

}  // namespace marline::offload::cluster
