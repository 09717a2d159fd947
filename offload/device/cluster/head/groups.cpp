// SPDX-License-Identifier: Apache-2.0
//
// Decides how long regions wait to be placed in a group with regions that are created after them (Head::set_groups).
// These are functions of ClusterHead (head.hpp).
//
// Invariant: waiting regions are planned when the program begins to wait, when a node reports a free slot, when enough
// others have been created, or by `look_at_held`. That function is called after each poll of the wire. While the
// program's only thread computes, the watchdog's thread polls.
#include "device/cluster/head/head.hpp"

#include "base/now.hpp"

#include <algorithm>

namespace marline::offload::device {

namespace {

// All in nanoseconds.
constexpr uint64_t kApart = 50'000;   // regions created further apart do not wait for each other
constexpr uint64_t kPause = 200'000;  // if no region has been created for so long, none is expected soon
// The longest time that a node without work waits while regions are being created.
constexpr uint64_t kAtMost = 2'000'000;
constexpr double kLatency = 20'000;  // time of a message; only the order of magnitude matters
// A region waits only if it takes at least this time for each slot of all nodes: with S slots, S times 50 us. The nodes
// then end at most one region in 50 us, and planning in groups takes the program 5 us for each.
constexpr double kLeastTime = 50'000;

// 32 regions for each slot: enough for 16 steps of a stencil with two tasks for each slot.
constexpr double kPerSlot = 32, kFewest = 64, kMost = 4096;

}  // namespace

void ClusterHead::set_link(double time_per_byte) { head_.placement.set_link(kLatency, time_per_byte); }

int ClusterHead::place_in_groups() {
  double window = std::clamp(kPerSlot * head_.placement.all_slots(), kFewest, kMost);
  head_.set_groups(static_cast<uint64_t>(window), kLeastTime);
  in_groups_ = true;
  return static_cast<int>(window);
}

// Returns whether the task that is being created follows another one closely, so that more may come soon. Under the
// lock.
bool ClusterHead::comes_soon() {
  uint64_t before = last_created_;
  last_created_ = now();
  return last_created_ - before < kApart;
}

// Called under the lock after a task has been created: ends the wait if it has become too long for an idle node.
void ClusterHead::limit_waits() {
  bool is_late = in_groups_ && held_since_ != 0 && last_created_ - held_since_ > kAtMost;
  if (is_late && head_.has_idle_node()) head_.plan_held();
  note_holding();
}

// Must be called under the lock whenever tasks may have begun or ceased to wait.
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
