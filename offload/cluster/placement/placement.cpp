// SPDX-License-Identifier: Apache-2.0
//
// Learns the times of tasks and computes expected times and loads.
#include "cluster/placement/placement.hpp"

#include <algorithm>

namespace marline::offload::cluster {

void Placement::add(const Member& member) {
  assert(member.kind < kKinds && member.slots > 0);
  members_.push(member);
  kinds_ |= 1u << member.kind;
  slots_ += member.slots;
  loads_.add(0);
  done_.push(0);
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

// If loads differ, a task waits for the time of other tasks. Moving little data takes only a fraction of that time.
double Placement::rounds_of(const PlacementRequest& request) const {
  constexpr double kAtMost = 4;
  if (transfer_time(request.bytes) < kLittle * expected_time(request)) return 1;
  double rounds = static_cast<double>(request.beside) / slots_;
  return rounds <= 1 ? 1 : rounds >= kAtMost ? kAtMost : static_cast<double>(static_cast<uint64_t>(rounds + 0.999));
}

double Placement::wait_time(NodeNumber node, double load, double time, double rounds) const {
  double step = time * rounds;
  if (members_[node - 1].slots <= 1 && rounds <= 1) return load;
  if (step <= 0 || load > 1e6 * step) return load;
  return static_cast<double>(static_cast<uint64_t>(load / step + 1e-6)) * step;
}

uint64_t Placement::key_of(const PlacementRequest& request, uint32_t kind) {
  auto size = request.bytes == 0 ? 0u : 64u - static_cast<unsigned>(__builtin_clzll(request.bytes));
  return uint64_t{request.kernel} << 16 | uint64_t{size} << 8 | kind;
}

const Placement::Cost* Placement::find_cost(uint64_t key) const {
  return std::ranges::lower_bound(costs_, key, {}, &Cost::key);  // the first entry that is not less, perhaps the end
}

// The expected time of a task if its kernel has never run. It is at least the time that set_unknown_time has set, so
// that the number of tasks counts. A program that lets other nodes run its tasks presumably has ten times as much work
// in each task as it takes to move the task's data. Without that assumption the first tasks, which may be all, would
// stay at the node to which one of them has brought their common data.
double Placement::unknown_time(const PlacementRequest& request) const {
  constexpr double kWorthIt = 10;
  return std::max(unknown_time_, kWorthIt * wire_time(request.bytes));
}

// If other kinds of members may run the task, a kind with only a first run is tried again: otherwise a kind whose first
// run was slow would never get a second one.
double Placement::time_of(const Cost& cost, const PlacementRequest& request, uint32_t kind) const {
  bool is_tried_again = cost.seen == 0 && (request.kinds & kinds_ & ~(1u << kind)) != 0;
  return is_tried_again ? std::min(cost.mean, unknown_time(request)) : cost.mean;
}

double Placement::expected_time(const PlacementRequest& request, uint32_t kind) const {
  const Cost* cost = known_cost(request, kind);
  return (cost != nullptr ? time_of(*cost, request, kind) : unknown_time(request)) * request.weight;
}

// Whether no task of the kernel has run on the node before. Records that one has run now.
bool Placement::note_first(uint32_t kernel, NodeNumber node) {
  uint64_t high = uint64_t{kernel} + 1;
  uint64_t number = high << 32 | static_cast<uint32_t>(node + high * 1021);
  if (have_run_.find(number) != nullptr) return false;
  have_run_.add(number);
  return true;
}

// Null: no such task has run on members of that kind.
const Placement::Cost* Placement::known_cost(const PlacementRequest& request, uint32_t kind) const {
  uint64_t key = key_of(request, kind);
  const Cost* cost = find_cost(key);
  return cost != costs_.end() && cost->key == key ? cost : nullptr;
}

bool Placement::is_known(const PlacementRequest& request) const {
  for (uint32_t kinds = request.kinds & kinds_; kinds != 0; kinds &= kinds - 1) {
    if (known_cost(request, static_cast<uint32_t>(__builtin_ctz(kinds))) != nullptr) return true;
  }
  return false;
}

double Placement::expected_time(const PlacementRequest& request) const {
  double shortest = -1;
  for (uint32_t kinds = request.kinds & kinds_; kinds != 0; kinds &= kinds - 1) {
    auto kind = static_cast<uint32_t>(__builtin_ctz(kinds));
    const Cost* cost = known_cost(request, kind);
    if (cost == nullptr) continue;
    double time = time_of(*cost, request, kind);
    shortest = shortest < 0 || time < shortest ? time : shortest;
  }
  return (shortest < 0 ? unknown_time(request) : shortest) * request.weight;
}

bool Placement::learn(const PlacementRequest& request, NodeNumber node, double time) {
  uint64_t key = key_of(request, members_[node - 1].kind);
  bool is_first = note_first(request.kernel, node);
  auto at = static_cast<size_t>(find_cost(key) - costs_.begin());
  if (at == costs_.count() || costs_[at].key != key) {
    costs_.insert(at, {key, time, is_first ? 0u : 1u});
    return !is_first;
  }
  Cost& cost = costs_[at];
  if (is_first) {
    if (cost.seen == 0 && time < cost.mean) cost.mean = time;
    return false;
  }
  if (cost.seen == 0) cost.mean = time;
  // The mean of the first 16 tasks, then a moving average.
  if (cost.seen < 16) ++cost.seen;
  cost.mean += (time - cost.mean) / cost.seen;
  return true;
}

double Placement::weight_of(const PlacementRequest& request, NodeNumber node, double time) const {
  constexpr double kNoise = 0.1, kAtMost = 1000;
  const Cost* cost = node >= 1 && node <= members_.count() ? known_cost(request, members_[node - 1].kind) : nullptr;
  if (cost == nullptr || cost->mean <= 0 || time <= 0) return 1;
  double weight = time / cost->mean;
  if (weight > 1 - kNoise && weight < 1 + kNoise) return 1;
  return weight < 1 / kAtMost ? 1 / kAtMost : weight > kAtMost ? kAtMost : weight;
}

double Placement::begin(const PlacementRequest& request, NodeNumber node) {
  const Member& member = members_[node - 1];
  double load = (request.gap + expected_time(request, member.kind)) / member.slots;
  loads_.set(node, loads_[node] + load);
  return load;
}

void Placement::end(NodeNumber node, double load) {
  done_[node - 1] += load;
  double left = loads_[node] - load;
  loads_.set(node, left > 0 ? left : 0);
}

}  // namespace marline::offload::cluster
