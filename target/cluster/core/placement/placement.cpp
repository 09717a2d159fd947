// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "cluster/core/placement/placement.hpp"

namespace marline::target {

void Placement::add(const Member& member) {
  assert(member.kind < kKinds && member.slots > 0);
  members_.push(member);
  slots_ += member.slots;
  loads_.push(0);
  done_.push(0);
  leaves_ = leaves_ == 0 ? 1 : leaves_;
  while (leaves_ < members_.count()) leaves_ *= 2;
  tree_.clear();
  for (size_t i = 0; i < 2 * leaves_; ++i) tree_.push(0);
  for (size_t i = 0; i < members_.count(); ++i) tree_[leaves_ + i] = static_cast<NodeNumber>(i + 1);
  for (size_t i = leaves_; i-- > 1;) tree_[i] = better(tree_[2 * i], tree_[2 * i + 1]);
}

NodeNumber Placement::better(NodeNumber a, NodeNumber b) const {
  if (a == 0 || b == 0) return a == 0 ? b : a;
  return loads_[b - 1] < loads_[a - 1] ? b : a;
}

void Placement::set_load(NodeNumber node, double load) {
  loads_[node - 1] = load;
  for (size_t i = (leaves_ + node - 1) / 2; i >= 1; i /= 2) tree_[i] = better(tree_[2 * i], tree_[2 * i + 1]);
}

bool Placement::may_run(const PlacementRequest& request, NodeNumber node) const {
  return node >= 1 && node <= members_.count() && (request.kinds >> members_[node - 1].kind & 1) != 0;
}

void Placement::add_candidate(const PlacementRequest& request, NodeNumber node) {
  for (NodeNumber other : candidates_) {
    if (other == node) return;
  }
  if (may_run(request, node)) candidates_.push(node);
}

double Placement::ready_time(const PlacementRequest& request, NodeNumber node, double transfer) {
  double ready = transfer;
  if (request.predecessors == nullptr) return ready;
  for (const RunningPredecessor& before : *request.predecessors) {
    double there = before.left + (before.node != node ? transfer : 0);
    if (there > ready) ready = there;
  }
  return ready;
}

// Where so many tasks are ready at a time that each slot gets several, neighbours among them may wait for one another.
double Placement::rounds_of(const PlacementRequest& request) const {
  constexpr double kAtMost = 4;
  double rounds = static_cast<double>(request.beside) / slots_;
  return rounds <= 1 ? 1 : rounds >= kAtMost ? kAtMost : static_cast<double>(static_cast<uint64_t>(rounds + 0.999));
}

// Until a task that takes `time` starts there. In steps of so many rounds of all slots: as long as a slot is free a
// task starts at once, and no data should move for less than that.
double Placement::wait_time(NodeNumber node, double time, double rounds) const {
  double load = loads_[node - 1], step = time * rounds;
  if (members_[node - 1].slots <= 1 && rounds <= 1) return load;
  if (step <= 0 || load > 1e6 * step) return load;
  return static_cast<double>(static_cast<uint64_t>(load / step + 1e-6)) * step;
}

// A node that cannot run the task, or has been taken, is set aside for the moment; all nodes, where most have no image.
void Placement::add_least_loaded(const PlacementRequest& request) {
  constexpr double kAside = 1e300;
  struct Aside {
    NodeNumber node;
    double load;
  };
  List<Aside> aside;
  for (size_t found = 0; found < kLeastLoaded && aside.count() < members_.count();) {
    NodeNumber node = least_loaded();
    aside.push({node, loads_[node - 1]});
    set_load(node, kAside);
    if (!may_run(request, node)) continue;
    ++found;
    add_candidate(request, node);
  }
  for (const Aside& one : aside) set_load(one.node, one.load);
}

uint64_t Placement::key_of(const PlacementRequest& request, uint32_t kind) {
  auto size = request.bytes == 0 ? 0u : 64u - static_cast<unsigned>(__builtin_clzll(request.bytes));
  return uint64_t{request.kernel} << 16 | uint64_t{size} << 8 | kind;
}

const Placement::Cost* Placement::find_cost(uint64_t key) const {
  size_t low = 0, high = costs_.count();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (costs_[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return costs_.begin() + low;  // the first that is not less, perhaps the end
}

// Of what has never run, as long as one unit: the number of tasks counts then.
double Placement::expected_time(const PlacementRequest& request, uint32_t kind) const {
  uint64_t key = key_of(request, kind);
  const Cost* cost = find_cost(key);
  return cost != costs_.end() && cost->key == key ? cost->mean : unknown_time_;
}

void Placement::learn(const PlacementRequest& request, NodeNumber node, double time) {
  uint64_t key = key_of(request, members_[node - 1].kind);
  auto at = static_cast<size_t>(find_cost(key) - costs_.begin());
  if (at == costs_.count() || costs_[at].key != key) {
    costs_.insert(at, {key, time, 1});
    return;
  }
  // A mean of the first 16, then one that follows.
  Cost& cost = costs_[at];
  if (cost.seen < 16) ++cost.seen;
  cost.mean += (time - cost.mean) / cost.seen;
}

double Placement::begin(const PlacementRequest& request, NodeNumber node) {
  const Member& member = members_[node - 1];
  double load = (request.gap + expected_time(request, member.kind)) / member.slots;
  set_load(node, loads_[node - 1] + load);
  return load;
}

void Placement::end(NodeNumber node, double load) {
  done_[node - 1] += load;
  double left = loads_[node - 1] - load;
  set_load(node, left > 0 ? left : 0);
}

}  // namespace marline::target
