// SPDX-License-Identifier: Apache-2.0
//
// Runs a plan as a sequence of events, which are in a heap.
#include "cluster/placement/plan_run.hpp"

#include <algorithm>
#include <cmath>

namespace marline::offload::cluster {

namespace {

template <class T>
void copy_list(List<T>& to, const List<T>& from) {
  to.clear();
  for (const T& item : from) to.push(item);
}

}  // namespace

void Occupied::copy(const Occupied& other) {
  copy_list(slots, other.slots);
  copy_list(sending, other.sending);
  copy_list(receiving, other.receiving);
  copy_list(first_slots, other.first_slots);
}

double& Occupied::first_slot(NodeNumber node) {
  return *std::min_element(slots.begin() + first_slots[node - 1], slots.begin() + first_slots[node]);
}

void NodeWork::clear(size_t nodes) {
  for (List<double>* one : {&computing, &sending, &receiving}) {
    one->clear();
    for (size_t node = 0; node < nodes; ++node) one->push(0);
  }
}

void NodeWork::copy(const NodeWork& other) {
  copy_list(computing, other.computing);
  copy_list(sending, other.sending);
  copy_list(receiving, other.receiving);
}

double NodeWork::most_of(NodeNumber node) const { return std::max({computing[node], sending[node], receiving[node]}); }

double NodeWork::most() const {
  double most = 0;
  for (NodeNumber node = 1; node < computing.count(); ++node) most = std::max(most, most_of(node));
  return most;
}

void PlanRun::begin(const Placement& placement, const List<BatchTask>& tasks, const Occupied& occupied,
                    const NodeWork& done) {
  done_ = &done;
  placement_ = &placement;
  tasks_ = &tasks;
  at_first_ = &occupied;
  first_readers_.clear();
  readers_.clear();
  for (size_t i = 0; i <= tasks.count(); ++i) first_readers_.push(0);
  for (const BatchTask& task : tasks) {
    for (const BatchInput& input : task.inputs) ++first_readers_[input.producer + 1], readers_.push({});
  }
  for (size_t i = 0; i < tasks.count(); ++i) first_readers_[i + 1] += first_readers_[i];
  List<size_t> next;
  copy_list(next, first_readers_);
  for (uint32_t i = 0; i < tasks.count(); ++i) {
    for (const BatchInput& input : tasks[i].inputs) readers_[next[input.producer]++] = {i, input.bytes};
  }
}

double PlanRun::run(const List<NodeNumber>& nodes, const List<uint64_t>& positions, size_t count, double limit) {
  nodes_ = &nodes;
  positions_ = &positions;
  count_ = count;
  occupied_.copy(*at_first_);
  work_.copy(*done_);
  events_.clear();
  ends_.clear();
  open_.clear();
  sent_.clear();
  while (ready_.count() < occupied_.sending.count()) ready_.push({});
  wakes_.clear();
  for (List<Ready>& ready : ready_) {
    ready.clear();
    sent_.push({});
    wakes_.push(-1);
  }
  for (uint32_t i = 0; i < count; ++i) begin_task(i);
  double end = 0;
  while (!events_.is_empty()) {
    std::pop_heap(events_.begin(), events_.end());
    Event event = events_.back();
    events_.pop();
    if (event.time() > limit) return event.time();
    switch (event.what()) {
      case What::kOutside: fetch_outside(event.number(), event.time()); break;
      case What::kInput: take_input(event.number(), event.time()); break;
      case What::kEnd:
        end = event.time();
        end_task(event.number(), event.time());
        break;
      case What::kWake:
        wakes_[event.number()] = -1;
        start_ready(event.number(), event.time());
        break;
    }
  }
  return end;
}

void PlanRun::push(double time, What what, uint32_t number) {
  assert(!std::signbit(time));
  uint64_t low = static_cast<uint64_t>(what) << 32 | number;
  events_.push({static_cast<unsigned __int128>(std::bit_cast<uint64_t>(time)) << 64 | low});
  std::push_heap(events_.begin(), events_.end());
}

// Returns when the bytes have arrived.
double PlanRun::transfer(NodeNumber from, NodeNumber to, uint64_t bytes, double since) {
  double &sending = occupied_.sending[from], &receiving = occupied_.receiving[to];
  Placement::Passage passage = placement_->pass(bytes, since, sending, receiving);
  sending = passage.left;
  work_.sending[from] += placement_->transfer_time(bytes);
  work_.receiving[to] += placement_->transfer_time(bytes);
  return receiving = passage.there;
}

// All data from outside of the batch counts as one more input.
void PlanRun::begin_task(uint32_t number) {
  const BatchTask& task = (*tasks_)[number];
  ends_.push(0);
  open_.push(static_cast<uint32_t>(task.inputs.count()) + 1);
  if (task.missing_at((*nodes_)[number]) != 0) {
    push(std::max(task.ready, 0.0), What::kOutside, number);
  } else if (task.ready > 0) {
    push(task.ready, What::kInput, number);
  } else {
    take_input(number, 0);
  }
}

void PlanRun::fetch_outside(uint32_t number, double now) {
  const BatchTask& task = (*tasks_)[number];
  NodeNumber node = (*nodes_)[number];
  push(transfer(task.source(), node, task.missing_at(node), now), What::kInput, number);
}

void PlanRun::take_input(uint32_t number, double now) {
  if (--open_[number] != 0) return;
  NodeNumber node = (*nodes_)[number];
  List<Ready>& ready = ready_[node];
  ready.push({(*positions_)[number], number});
  std::push_heap(ready.begin(), ready.end());
  wake(node, node == 0 ? now : std::max(now, occupied_.first_slot(node)));
}

// Adds at most one wake event for each time.
void PlanRun::wake(NodeNumber node, double time) {
  if (wakes_[node] == time) return;
  wakes_[node] = time;
  push(time, What::kWake, node);
}

void PlanRun::start_ready(NodeNumber node, double now) {
  List<Ready>& ready = ready_[node];
  while (!ready.is_empty()) {
    double* slot = node != 0 ? &occupied_.first_slot(node) : nullptr;
    if (slot != nullptr && *slot > now) return wake(node, *slot);
    std::pop_heap(ready.begin(), ready.end());
    uint32_t number = ready.back().task;
    ready.pop();
    double end = now;
    if (slot != nullptr) {
      double time = placement_->expected_time_at((*tasks_)[number].request, node);
      *slot = end = now + time;
      work_.computing[node] += time / placement_->slots(node);
    }
    ends_[number] = end;
    push(end, What::kEnd, number);
  }
}

void PlanRun::end_task(uint32_t number, double now) {
  NodeNumber from = (*nodes_)[number];
  for (const Reader& reader : readers_of(number)) {
    if (reader.task >= count_) break;  // all later readers are outside of the run, too
    NodeNumber to = (*nodes_)[reader.task];
    if (to == from || reader.bytes == 0) {
      take_input(reader.task, now);
      continue;
    }
    Sent& sent = sent_[to];
    if (sent.task != number + 1) sent = {number + 1, 0, now};
    if (reader.bytes > sent.bytes) sent.there = transfer(from, to, reader.bytes - sent.bytes, now);
    sent.bytes = std::max(sent.bytes, reader.bytes);
    push(sent.there, What::kInput, reader.task);
  }
}

}  // namespace marline::offload::cluster
