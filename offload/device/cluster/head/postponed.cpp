// SPDX-License-Identifier: Apache-2.0
//
// The program's part in postponed comparisons: decides for which regions the node may postpone the comparison until
// another access needs its result (Replica::postpone; docs/design/cluster-replicas.md, "Postponed comparisons").
//
// Invariant: the pointers that such a region has stored are not known. So from its creation on, every kernel uses all
// memory, as with has_far_pointers, until the region's node has reported that it has made all comparisons. Then the
// program knows all pointers again, and no comparison is postponed any more.
//
// This is worth it if a program waits for each of its regions and one node has all data that they use. Any other use of
// the cluster ends it for the rest of the run: a program with several regions at a time is one that needs several
// nodes.
#include "device/cluster/head/head.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

namespace {

constexpr uint32_t kLeastFit = 4;       // comparisons are postponed after so many regions that allow it, in a row
constexpr uint64_t kWorthIt = 4 << 20;  // bytes that a region must be able to write
constexpr size_t kMostBuffers = 16;     // while comparisons are postponed, each kernel names all buffers
// Bytes that may be moved although no region needs them.
constexpr uint64_t kSmall = 1 << 16;

}  // namespace

// Whether a kernel that is created now must use all memory. Called under the lock, as are all functions of this file
// except take_compared and await_comparisons.
bool ClusterHead::uses_all() const {
  if (postponing_.state == Postponing::kOn || postponing_.state == Postponing::kEnds) return true;
  return device_->has_far_pointers.load(std::memory_order_relaxed);  // ordered by the lock
}

// Whether the program waits for this kernel, and no other task of the cluster is in flight.
bool ClusterHead::is_alone(const Launch& launch) const {
  bool is_plain = !launch.is_submitted_early && !launch.is_deferred && launch.graph == 0 && launch.node == 0;
  return is_plain && launch.reduced_count == 0 && head_.under_way() == 0;
}

// Whether the node is the home of all data except the data in `accesses` and a few bytes. A region with these accesses
// that must use all memory then causes hardly any transfer that it would not cause anyway.
bool ClusterHead::are_others_at(NodeNumber node, const List<TaskAccess>& accesses) {
  if (memory_.count() > kMostBuffers) return false;
  List<TaskAccess> all;
  memory_.add_reachable(true, all);
  uint64_t elsewhere = 0, own = 0;
  for (const TaskAccess& access : all) elsewhere += head_.bytes_elsewhere(access.range, node);
  for (const TaskAccess& access : accesses) own += head_.bytes_elsewhere(access.range, node);
  return elsewhere - own <= kSmall;
}

// Decides whether the comparison of a kernel that is about to be created may be postponed. `task` has the data that the
// kernel itself may use. All memory is added if the invariant above requires it.
bool ClusterHead::may_postpone(const Launch& launch, NewTask& task) {
  Postponing& own = postponing_;
  if (own.state == Postponing::kOver) return false;
  if (launch.is_submitted_early || launch.is_deferred || launch.graph != 0) end_postponing();
  bool is_on = own.state == Postponing::kOn || (own.state == Postponing::kNotYet && own.fit >= kLeastFit);
  bool may = is_on && is_alone(launch) && are_others_at(own.node, task.accesses);
  if (own.state == Postponing::kOn && !may) end_postponing();
  if (own.state == Postponing::kNotYet && may) {
    own.state = Postponing::kOn;
    // From now on deferred regions are submitted only when they are ready, so that they can wait until no comparison is
    // postponed. relaxed: only a hint, as some may have been submitted early already; these use all memory.
    own.takes_early = device_->takes_early.exchange(false, std::memory_order_relaxed);
  }
  if (uses_all()) memory_.add_reachable(true, task.accesses);
  own.regions += may ? 1 : 0;
  if (may) task.pin = own.node;
  return may;
}

// Counts kernels in a row, on one node, whose comparisons could have been postponed. `bytes`: how many bytes the
// created kernel itself may use.
void ClusterHead::note_fit(const Launch& launch, TaskNumber task, uint64_t bytes) {
  Postponing& own = postponing_;
  if (own.state != Postponing::kNotYet) return;
  constexpr size_t kItself = 1;
  bool is_fit = !launch.is_submitted_early && launch.node == 0 && head_.under_way() == kItself;
  NodeNumber node = is_fit ? head_.place_of(task).node : 0;
  if (own.fit == 0 || node != own.node) own.fit = 0;
  own.node = node;
  if (node != 0 && bytes >= kWorthIt) ++own.fit;
}

// From now on no kernel's comparison is postponed. Asks the node to make the comparisons that it has postponed.
void ClusterHead::end_postponing() {
  Postponing& own = postponing_;
  if (own.state == Postponing::kNotYet) own.state = Postponing::kOver;
  if (own.state != Postponing::kOn) return;
  own.state = Postponing::kEnds;
  const uint64_t nothing = 0;
  node_job()->send(static_cast<int>(own.node), frame_of(ClusterFrame::kComparesAll, 1), &nothing);
}

void ClusterHead::take_compared() {
  Finished finished;
  {
    Guard guard(node_.lock);
    postponing_.state = Postponing::kOver;
    if (postponing_.takes_early)
      device_->takes_early.store(true, std::memory_order_relaxed);  // a hint, as in may_postpone
    finished.swap(postponing_.waiters);
  }
  finish(finished, true);
}

// Called before a kernel is created. If comparisons cannot stay postponed while it runs, waits until they are made:
// else the kernel would have to use all memory. A kernel that is submitted early is not waited for, as it comes from a
// hook, which cannot wait. The thread polls while it waits, as it may be unable to suspend here.
void ClusterHead::await_comparisons(const Launch& launch) {
  if (launch.is_submitted_early) return;
  Awaited compared(device_);
  compared.has_poller = true;
  {
    Guard guard(node_.lock);
    if (postponing_.state == Postponing::kOn) {
      List<TaskAccess> accesses;
      memory_.list_accesses(launch, device_->has_far_pointers.load(std::memory_order_relaxed), accesses);
      if (!is_alone(launch) || !are_others_at(postponing_.node, accesses)) end_postponing();
    }
    if (postponing_.state != Postponing::kEnds) return;
    postponing_.waiters.push(&compared);
  }
  compared.wait("comparison of data");
}

}  // namespace marline::offload::device
