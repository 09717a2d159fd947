// SPDX-License-Identifier: Apache-2.0
//
// Regions that wait for others, to be placed with them (Head::set_groups): which, and for how long. See head.hpp.
//
// Invariant: what waits is planned when the program begins to wait, when a node reports that it has a free slot, when
// enough others are there, or by `look_at_held`, which each look at the wire comes by: the watchdog's, while the only
// thread computes.
#include "device/cluster/head/head.hpp"

#include "device/contract/tell.hpp"

#include <algorithm>

namespace marline::offload::device {

namespace {

// All in nanoseconds.
constexpr uint64_t kApart = 50'000;      // regions that are created further apart do not wait for each other
constexpr uint64_t kPause = 200'000;     // since the last one: no other comes soon
constexpr uint64_t kAtMost = 2'000'000;  // that a node without work waits, while others are created
constexpr double kLatency = 20'000;      // what a message takes; only the order of magnitude matters
// Planning costs 5 us a task. Regions that last less than 50 us for each slot of all nodes end too fast for that.
constexpr double kLeastTime = 50'000;

// 32 for each slot: 16 steps of a stencil with two tasks for each.
constexpr double kPerSlot = 32, kFewest = 64, kMost = 4096;

}  // namespace

void ClusterHead::set_link(double time_per_byte) { head_.placement.set_link(kLatency, time_per_byte); }

int ClusterHead::place_in_groups() {
  double window = std::clamp(kPerSlot * head_.placement.all_slots(), kFewest, kMost);
  head_.set_groups(static_cast<uint64_t>(window), kLeastTime);
  in_groups_ = true;
  return static_cast<int>(window);
}

// Under the lock, of a task that is being created: others have come right before it.
bool ClusterHead::comes_soon() {
  uint64_t before = last_created_;
  last_created_ = now();
  return last_created_ - before < kApart;
}

// Likewise, behind its creation.
void ClusterHead::limit_waits() {
  bool is_late = in_groups_ && held_since_ != 0 && last_created_ - held_since_ > kAtMost;
  if (is_late && head_.has_idle_node()) head_.plan_held();
  note_holding();
}

// Under the lock, whenever that may have changed.
void ClusterHead::note_holding() {
  if (!head_.holds_back()) {
    held_since_ = 0;
  } else if (held_since_ == 0) {
    held_since_ = last_created_;
  }
  holds_.store(held_since_ != 0, std::memory_order_relaxed);
}

void ClusterHead::look_at_held() {
  if (!in_groups_ || !holds_.load(std::memory_order_relaxed)) return;
  Finished finished;
  {
    Guard guard(node_.lock);
    if (now() - last_created_ < kPause) return;
    head_.plan_held();
    pump(finished);
  }
  finish(finished, true);
}

}  // namespace marline::offload::device
