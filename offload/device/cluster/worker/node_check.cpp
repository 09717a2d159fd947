// SPDX-License-Identifier: Apache-2.0
//
// What a node finds out beside what its tasks have written (MARLINE_CLUSTER_WRITES=check; docs/design/cluster.md).
#include "base/report.hpp"
#include "device/cluster/worker/node.hpp"

#include <algorithm>

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

namespace {

// What has changed in the range beside the names, which are in order.
FoundBytes find_unnamed(Replica& replica, const ClusterRange& range, const List<ClusterRange>& named) {
  FoundBytes found;
  uint64_t done = range.offset;
  auto look = [&](uint64_t end) {
    if (end > done) replica.count_changes({range.buffer, done, end - done}, found);
  };
  for (const ClusterRange& name : named) {
    if (name.buffer != range.buffer || name.end() <= done) continue;
    look(std::min(name.offset, range.end()));
    done = name.end();
  }
  look(range.end());
  return found;
}

void put_found(uint64_t buffer, const FoundBytes& found, CheckFinding& to) {
  to.buffer = buffer;
  to.first = found.first;
  to.end = found.end;
  to.count = found.count;
}

}  // namespace

// No other kernel runs here beside the task, so all that differs is its own: a node that checks has one slot.
void ClusterNode::check_before(uint64_t index, const List<Comparison>& comparisons) {
  CheckFinding finding = {};
  List<ClusterRange> named;
  bool is_checked;
  {
    Guard guard(lock);
    const Started& started = started_[index];
    is_checked = started.is_checked;
    finding.task = started.task;
    for (const ClusterRange& name : started.named) named.push(name);
  }
  if (is_checked) check_named(named, comparisons, finding);
  List<ChangedBytes> changed;
  for (const Comparison& one : comparisons) {
    if (one.is_sent) one.replica->list_changes(one.range, changed);
  }
  Guard guard(lock);
  started_[index].changed.swap(changed);
  started_[index].stamp = comparisons.is_empty() ? 0 : comparisons[0].stamp;  // all have the same
}

// What has arrived for bytes that the task had changed. From its comparison on, nothing is changed here.
void ClusterNode::check_behind(uint64_t index, const List<Comparison>& comparisons) {
  CheckFinding finding = {};
  finding.what = Found::kWrittenTwice;
  {
    Guard guard(lock);
    finding.task = started_[index].task;
  }
  for (const Comparison& one : comparisons) {
    put_found(one.range.buffer, one.replica->take_overwritten(one.range), finding);
    if (finding.count != 0) side_.tell_finding(finding);
  }
}

void ClusterNode::check_named(const List<ClusterRange>& named, const List<Comparison>& comparisons,
                              CheckFinding& finding) {
  finding.what = Found::kUnnamed;
  for (const Comparison& one : comparisons) {
    put_found(one.range.buffer, find_unnamed(*one.replica, one.range, named), finding);
    if (finding.count != 0) side_.tell_finding(finding);
  }
}

// In front of a delta: the task's stamp, and what it has changed of that.
void ClusterNode::write_changed(const Message& message, BlobWriter& to) {
  const ClusterRange& range = message.range;
  List<ChangedBytes> all;
  for (const ChangedBytes& one : started_[message.peer.index].changed) {
    bool is_inside =
        one.range.buffer == range.buffer && one.range.offset >= range.offset && one.range.end() <= range.end();
    if (is_inside) all.push(one);
  }
  to.put(started_[message.peer.index].stamp);
  to.put(all.count());
  for (const ChangedBytes& one : all) {
    for (uint64_t word : {one.range.offset, one.range.bytes, one.stamp}) to.put(word);
  }
}

// Nodes that have changed the same bytes have none of each other's changes: `atomic` and `critical` do not reach so
// far. Seen where the bytes are at home, and told by the task's node, before its end.
void ClusterNode::find_newer(const Message& message, Replica& own, BlobReader& rest) {
  FoundBytes found;
  uint64_t stamp = rest.get();
  for (uint64_t left = rest.get(); left > 0 && rest.is_good(); --left) {
    uint64_t offset = rest.get(), bytes = rest.get();
    ChangedBytes seen = {{message.range.buffer, offset, bytes}, rest.get()};
    bool is_inside = offset <= own.bytes() && bytes <= own.bytes() - offset;
    if (!is_inside) fatal("node %u of the cluster has got a task's changes that are torn", node_);
    own.count_newer(seen, stamp, found);
  }
  put_found(message.range.buffer, found, merged_);
}

void ClusterNode::tell_merged(const Message& message, BlobReader& rest) {
  CheckFinding finding = {Found::kWrittenTwice, started_[message.index].task, 0, 0, 0, 0};
  finding.buffer = rest.get();
  finding.first = rest.get();
  finding.end = rest.get();
  finding.count = rest.get();
  if (finding.count != 0 && side_.tell_finding != nullptr) side_.tell_finding(finding);
}

}  // namespace marline::offload::device
