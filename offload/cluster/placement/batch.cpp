// SPDX-License-Identifier: Apache-2.0
//
// Makes the plans by list scheduling, runs them, and takes the best one.
#include "cluster/placement/batch.hpp"

#include <algorithm>

namespace marline::offload::cluster {

namespace {

constexpr double kNever = 1e300;
// A plan must be better by this factor to be worth moving data, because plans treat transfers over idle links as free.
constexpr double kWorthIt = 0.98;

}  // namespace

void Batch::plan(const Placement& placement, bool repeats) {
  repeats_ = repeats;
  set_occupied(placement);
  if (!repeats) done_.clear(at_first_.sending.count());
  run_.begin(placement, tasks_, at_first_, done_);
  best_.end = kNever;
  best_.nodes.clear();
  for (Way way :
       {Way::kByTransfersAndTimes, Way::kByTimes, Way::kByCreation, Way::kByOwner, Way::kByBlocks, Way::kBySharing}) {
    // In a single iteration the inputs of a step come one after another, even if there are few, so the plan by sharing
    // does not help.
    if (way == Way::kBySharing && !repeats) continue;
    if (!set_order(placement, way)) continue;
    if (way == Way::kBySharing) sharing_.assign(placement, tasks_, run_, shared_);
    try_way(placement, way);
    if (plan_.is_like(best_)) continue;
    plan_.end = end_of_run(best_.end);
    take_if_better();
  }
  if (repeats) balance(placement);
}

void Batch::take_if_better() {
  bool is_better = plan_.end < best_.end || (plan_.end == best_.end && plan_.moved < best_.moved);
  if (is_better || best_.nodes.is_empty()) std::swap(plan_, best_);
}

// Iterations overlap. So each further iteration takes as long as the node or link with the most work, and all together
// also take the time of one iteration from its beginning to its end.
double Batch::end_of_run(double limit) {
  constexpr double kIterations = 16;
  double end = run_.run(plan_.nodes, plan_.positions, tasks_.count(), repeats_ ? kNever : limit);
  return repeats_ ? run_.work().most() + end / kIterations : end;
}

// Balances the best plan; its order stays. Tasks leave their nodes of the iteration before, if there is one, only for a
// clearly better plan: each move costs another iteration that cannot be replayed, and the difference may be noise.
void Batch::balance(const Placement& placement) {
  auto copy = [&](const Plan& from) {
    plan_.nodes.clear();
    plan_.positions.clear();
    for (NodeNumber node : from.nodes) plan_.nodes.push(node);
    for (uint64_t position : from.positions) plan_.positions.push(position);
    plan_.moved = from.moved;
  };
  copy(best_);
  balance_.improve(placement, tasks_, run_, done_, plan_.nodes);
  plan_.end = end_of_run(kNever);
  if (plan_.end < kWorthIt * best_.end) std::swap(plan_, best_);
  bool is_known = !tasks_.is_empty();
  for (const BatchTask& task : tasks_) is_known = is_known && (task.is_on_host || task.before != 0);
  if (!is_known) return;
  copy(best_);
  for (size_t i = 0; i < tasks_.count(); ++i) {
    if (tasks_[i].is_free()) plan_.nodes[i] = tasks_[i].before;
  }
  plan_.end = kWorthIt * end_of_run(kNever);
  take_if_better();
}

bool Batch::Plan::is_like(const Plan& other) const {
  return nodes.count() == other.nodes.count() && std::equal(nodes.begin(), nodes.end(), other.nodes.begin()) &&
         std::equal(positions.begin(), positions.end(), other.positions.begin());
}

// Ranks the tasks as HEFT does: a task's rank is the longest path from its start to the end of all tasks, with the
// times of the fastest kind of member. False: the previous plan had the same order and the same rule.
bool Batch::set_order(const Placement& placement, Way way) {
  order_.swap(order_before_);
  order_.clear();
  ranks_.clear();
  for (uint32_t i = 0; i < tasks_.count(); ++i) {
    order_.push(i);
    ranks_.push(0);
  }
  if (way == Way::kByCreation) return !is_order_before();
  if (way != Way::kByTransfersAndTimes && way != Way::kByTimes) return true;
  for (size_t i = tasks_.count(); i-- > 0;) {
    const BatchTask& task = tasks_[i];
    if (!task.is_on_host) ranks_[i] += placement.expected_time(task.request);
    for (const BatchInput& input : task.inputs) {
      double move = way == Way::kByTransfersAndTimes ? placement.transfer_time(input.bytes) : 0;
      ranks_[input.producer] = std::max(ranks_[input.producer], ranks_[i] + move);
    }
  }
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return ranks_[a] != ranks_[b] ? ranks_[a] > ranks_[b] : a < b; });
  return way == Way::kByTransfersAndTimes || !is_order_before();
}

bool Batch::is_order_before() const { return std::equal(order_.begin(), order_.end(), order_before_.begin()); }

// All slots of a node become free when the work that it has been given is done.
void Batch::set_occupied(const Placement& placement) {
  Occupied& first = at_first_;
  first.slots.clear();
  first.sending.clear();
  first.receiving.clear();
  first.first_slots.clear();
  for (NodeNumber node = 0; node <= placement.members(); ++node) {
    first.sending.push(node < kept_.sending.count() ? time_until(kept_.sending[node]) : 0);
    first.receiving.push(node < kept_.receiving.count() ? time_until(kept_.receiving[node]) : 0);
    if (node == 0) continue;
    first.first_slots.push(first.slots.count());
    auto count = static_cast<size_t>(placement.slots(node));
    for (size_t i = 0; i < std::max<size_t>(count, 1); ++i) {
      double kept = first.slots.count() < kept_.slots.count() ? time_until(kept_.slots[first.slots.count()]) : 0;
      first.slots.push(std::max(placement.load(node), kept));
    }
  }
  first.first_slots.push(first.slots.count());
}

void Batch::begin_plan(const Placement& placement) {
  plan_.nodes.clear();
  plan_.ends.clear();
  plan_.positions.clear();
  copies_.clear();
  is_placed_.clear();
  for (size_t i = 0; i < tasks_.count(); ++i) {
    plan_.nodes.push(0);
    plan_.ends.push(0);
    plan_.positions.push(0);
    copies_.push({});
    is_placed_.push(0);
  }
  loads_.clear();
  for (NodeNumber node = 0; node <= placement.members(); ++node) loads_.push(node == 0 ? 0 : placement.load(node));
  occupied_.copy(at_first_);
  free_.copy(placement.loads());
  for (NodeNumber node = 1; node <= placement.members(); ++node) free_.set(node, occupied_.first_slot(node));
  plan_.moved = 0;
  last_ = 0;
  owners_ = IdTable<Owner>();
}

void Batch::run_at(const Placement& placement, uint32_t i, NodeNumber node) {
  Choice choice = at_node(placement, i, node, true);
  is_placed_[i] = 1;
  plan_.nodes[i] = last_ = choice.node;
  plan_.ends[i] = choice.end;
  plan_.moved += choice.missing;
  if (choice.node == 0) return;
  if (tasks_[i].written != 0) {
    Owner* owner = owners_.find(tasks_[i].written);
    (owner != nullptr ? *owner : owners_.add(tasks_[i].written)).node = node;
  }
  loads_[choice.node] += placement.expected_time_at(tasks_[i].request, choice.node) / placement.slots(choice.node);
  occupied_.first_slot(choice.node) = choice.end;
  free_.set(choice.node, occupied_.first_slot(choice.node));
}

void Batch::try_way(const Placement& placement, Way way) {
  begin_plan(placement);
  uint64_t position = 0;
  for (uint32_t i : order_) {
    run_at(placement, i, choose(placement, i, way));
    plan_.positions[i] = position++;
  }
}

void Batch::keep(size_t tasks) {
  run_.run(best_.nodes, best_.positions, tasks, 1e300);
  kept_.copy(run_.occupied());
  if (repeats_) done_.copy(run_.work());
  for (List<double>* times : {&kept_.slots, &kept_.sending, &kept_.receiving}) {
    for (double& time : *times) time += now_;
  }
}

void Batch::find_candidates(const Placement& placement, const BatchTask& task) {
  candidates_.clear();
  auto add = [&](NodeNumber node) {
    bool is_known = std::find(candidates_.begin(), candidates_.end(), node) != candidates_.end();
    if (!is_known && placement.may_run(task.request, node)) candidates_.push(node);
  };
  for (const BatchInput& input : task.inputs) add(plan_.nodes[input.producer]);
  for (const BatchHolder& holder : task.holders) add(holder.node);
  add(last_);
  placement.for_least(free_, task.request, add);
}

// Places tasks with equally long chains of predecessors, in the order of creation: each node gets consecutive ones, in
// proportion to its slots. So the rows of a program that creates tasks row by row are cut into blocks of columns,
// whatever data they use.
NodeNumber Batch::block_of(const BatchTask& task) const {
  const List<size_t>& first_slots = at_first_.first_slots;
  size_t slot = task.rank * at_first_.slots.count() / task.width;
  const size_t* after = std::upper_bound(first_slots.begin(), first_slots.end(), slot);
  return static_cast<NodeNumber>(after - first_slots.begin());
}

NodeNumber Batch::choose(const Placement& placement, uint32_t number, Way way) {
  const BatchTask& task = tasks_[number];
  if (task.is_on_host) return 0;
  if (task.request.pin != kAnyNode) return placement.may_run(task.request, task.request.pin) ? task.request.pin : 0;
  if (way == Way::kByOwner && task.written != 0) {
    const Owner* owner = owners_.find(task.written);
    NodeNumber node = owner != nullptr ? owner->node : task.owner;
    if (node != 0 && placement.may_run(task.request, node)) return node;
  }
  NodeNumber block = way == Way::kByBlocks ? block_of(task) : 0;
  if (block != 0 && placement.may_run(task.request, block)) return block;
  if (way == Way::kBySharing && shared_[number] != 0) return shared_[number];
  find_candidates(placement, task);
  bool by_loads = way >= Way::kByOwner;
  Choice best;
  for (NodeNumber node : candidates_) {
    Choice one = by_loads ? by_load(placement, number, node) : at_node(placement, number, node, false);
    if (tasks_[number].inputs.is_empty()) one.cost += reader_time(placement, number, node);
    bool is_before = node == last_ || (best.node != last_ && node < best.node);
    if (best.node == 0 || one.is_better(best) || (one.is_as_good(best) && is_before)) best = one;
  }
  return best.node;  // 0: no member may run the task
}

Batch::Choice Batch::at_node(const Placement& placement, uint32_t number, NodeNumber node, bool is_final) {
  Choice choice;
  choice.node = node;
  choice.end = take_inputs(placement, number, node, is_final, choice.missing);
  if (node == 0) return choice;
  choice.end = std::max(choice.end, free_[node]) + placement.expected_time_at(tasks_[number].request, node);
  choice.cost = choice.end;
  return choice;
}

// Returns when all inputs have come, one after another.
double Batch::take_inputs(const Placement& placement, uint32_t number, NodeNumber node, bool is_final,
                          uint64_t& missing) {
  const BatchTask& task = tasks_[number];
  double start = task.ready, port = occupied_.receiving[node];
  auto receive = [&](NodeNumber from, uint64_t bytes, double since) {
    Placement::Passage passage = placement.pass(bytes, since, occupied_.sending[from], port);
    if (is_final) occupied_.sending[from] = passage.left;
    missing += bytes;
    return port = passage.there;
  };
  uint64_t outside = task.missing_at(node);
  if (outside != 0) start = std::max(start, receive(task.source(), outside, start));
  for (const BatchInput& input : task.inputs) {
    double there = plan_.ends[input.producer];
    NodeNumber from = plan_.nodes[input.producer];
    bool is_here = from == node || input.bytes == 0;
    for (const Copy& copy : copies_[input.producer]) {
      if (copy.node != node) continue;
      is_here = true;
      there = copy.since;
    }
    if (!is_here) {
      there = receive(from, input.bytes, there);
      if (is_final) copies_[input.producer].push({node, there});
    }
    start = std::max(start, there);
  }
  if (is_final) occupied_.receiving[node] = port;
  return start;
}

// Computes the choice as Placement::choose does.
Batch::Choice Batch::by_load(const Placement& placement, uint32_t number, NodeNumber node) const {
  const BatchTask& task = tasks_[number];
  Choice choice;
  choice.node = node;
  choice.missing = task.missing_at(node);
  for (const BatchInput& input : task.inputs) {
    bool is_here = plan_.nodes[input.producer] == node;
    for (const Copy& copy : copies_[input.producer]) is_here = is_here || copy.node == node;
    if (!is_here) choice.missing += input.bytes;
  }
  double time = placement.expected_time_at(task.request, node);
  bool shares = !task.inputs.is_empty() || task.outside != 0;
  for (const PlanRun::Reader& reader : run_.readers_of(number)) shares = shares || reader.bytes != 0;
  double rounds = shares ? placement.rounds_of(task.request) : 1;
  choice.wait = placement.wait_time(node, loads_[node], time, rounds);
  choice.cost = std::max(choice.wait, placement.transfer_time(choice.missing)) + time;
  return choice;
}

// For a task that no input ties to a node: the time to move data for its most demanding reader if the task runs at the
// node. That data is the reader's other inputs, as far as they are placed, or, if that is less, what this task writes
// for the reader.
double Batch::reader_time(const Placement& placement, uint32_t number, NodeNumber node) const {
  uint64_t most = 0;
  size_t readers = 0;
  for (const PlanRun::Reader& reader : run_.readers_of(number)) {
    if (reader.bytes == 0) continue;
    if (++readers > kReaders) break;
    const BatchTask& task = tasks_[reader.task];
    if (task.inputs.count() > kMostInputs) continue;  // they decide little, and have as many producers to examine
    uint64_t away = task.missing_at(node), own = 0;
    for (const BatchInput& input : task.inputs) {
      if (input.producer == number) own += input.bytes;
      bool is_away = is_placed_[input.producer] != 0 && plan_.nodes[input.producer] != node;
      if (input.producer != number && is_away) away += input.bytes;
    }
    most = std::max(most, std::min(away, own));
  }
  return placement.wire_time(most);
}

}  // namespace marline::offload::cluster
