// SPDX-License-Identifier: Apache-2.0
//
// A node's checks of MARLINE_CLUSTER_WRITES=check: finds bytes that a task has written and that its depend clauses do
// not name, and bytes that two tasks without an order have written (docs/design/cluster-coherence.md).
#include "base/report.hpp"
#include "device/cluster/worker/node.hpp"

#include <algorithm>

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

namespace {

// Finds the changed bytes of the range that lie outside of `named`, which is ordered.
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

// Called before a task's comparison. Reports bytes that the task has changed and does not name, and records which bytes
// it has changed, for write_changed. A checking node runs one kernel at a time, so this task has written all bytes that
// differ from their twin.
void ClusterNode::check_before(uint64_t index, const List<Comparison>& comparisons) {
  CheckFinding finding = {};
  List<ClusterRange> named;
  bool is_checked;
  {
    Guard guard(lock);
    const Started& started = started_[index];
    is_checked = started.is_checked;
    finding.task = worker_.task_of(index);
    for (const ClusterRange& name : started.named) named.push(name);
  }
  if (is_checked) check_named(named, comparisons, finding);
  List<ChangedBytes> changed;
  for (const Comparison& one : comparisons) {
    if (one.is_sent) one.replica->list_changes(one.range, changed);
  }
  Guard guard(lock);
  started_[index].changed.swap(changed);
  // All comparisons of a task have the same stamp.
  started_[index].stamp = comparisons.is_empty() ? 0 : comparisons[0].stamp;
}

// Called after a task's comparison. Reports bytes that the task has changed and that a message of another node has
// overwritten meanwhile. Between the task's comparison and its end no task changes bytes at this node, which runs one
// task at a time.
void ClusterNode::check_overwritten(uint64_t index, const List<Comparison>& comparisons) {
  CheckFinding finding = {};
  finding.what = Found::kWrittenTwice;
  {
    Guard guard(lock);
    finding.task = worker_.task_of(index);
  }
  for (const Comparison& one : comparisons) {
    put_found(one.range.buffer, one.replica->take_overwritten(one.range), finding);
    if (finding.count != 0) side_.notify_finding(finding);
  }
}

void ClusterNode::check_named(const List<ClusterRange>& named, const List<Comparison>& comparisons,
                              CheckFinding& finding) {
  finding.what = Found::kUnnamed;
  for (const Comparison& one : comparisons) {
    put_found(one.range.buffer, find_unnamed(*one.replica, one.range, named), finding);
    if (finding.count != 0) side_.notify_finding(finding);
  }
}

// Writes the data that precedes a delta: the task's stamp, and where in the delta's range the task has changed bytes,
// with the stamps that these bytes had before.
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
    to.words(one.range.offset, one.range.bytes, one.stamp);
  }
}

// Called at the home of a delta's range, before the delta is merged. If two tasks without an order change the same
// bytes on two nodes, neither sees the other's changes: `atomic` and `critical` do not work across nodes. The home
// finds this when it receives the second delta. Its answer kMerged contains the finding, and the task's node reports
// the finding before the task ends (report_merged).
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

void ClusterNode::report_merged(const Message& message, BlobReader& rest) {
  CheckFinding finding = {Found::kWrittenTwice, worker_.task_of(message.index), 0, 0, 0, 0};
  rest.words(finding.buffer, finding.first, finding.end, finding.count);
  if (finding.count != 0 && side_.notify_finding != nullptr) side_.notify_finding(finding);
}

}  // namespace marline::offload::device
