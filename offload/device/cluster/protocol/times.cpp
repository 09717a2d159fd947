// SPDX-License-Identifier: Apache-2.0
//
// Records the activities of a node, and passes the records to the program's tools.
#include "device/cluster/protocol/times.hpp"

namespace marline::offload::device {

namespace {

// The shortest activity that note_long records, in nanoseconds. Shorter ones are frequent, and would cost too much.
constexpr uint64_t kShortest = 1000;
constexpr int kTransfer = 2;  // ompt_target_data_transfer_to_device

// Node 0, the program's process, is the cluster itself.
int device_of(const Device* cluster, uint32_t node) {
  return node == 0 ? cluster->number : cluster->members[node - 1]->number;
}

void report_transfer(const Device* cluster, const TimedEntry& entry) {
  marline_operation_t copy = {};
  copy.kind = kTransfer;
  copy.device = copy.to_device = device_of(cluster, entry.node);
  copy.from_device = device_of(cluster, entry.peer);
  copy.bytes = entry.detail;
  copy.begin = entry.begin;
  copy.end = entry.end;
  marline_operation_done(&copy);
}

}  // namespace

ClusterTimes& cluster_times() {
  static constinit ClusterTimes own;
  return own;
}

void ClusterTimes::note(TimedWhat what, uint64_t begin, uint64_t detail, uint32_t peer) {
  if (begin != 0 && is_wanted_) entries.push({static_cast<uint16_t>(what), 0, peer, begin, now(), detail});
}

void ClusterTimes::note_long(TimedWhat what, uint64_t begin) {
  if (begin != 0 && now() - begin >= kShortest) note(what, begin);
}

void report_times(const Device* cluster, const List<TimedEntry>& entries) {
  for (const TimedEntry& entry : entries) {
    int device = device_of(cluster, entry.node);
    switch (static_cast<TimedWhat>(entry.what)) {
      case TimedWhat::kKernel: break;
      case TimedWhat::kWait:
        marline_device_activity(device, MARLINE_ACTIVITY_IDLENESS, "wait for inputs", entry.begin, entry.end);
        break;
      case TimedWhat::kCompare:
        marline_device_activity(device, MARLINE_ACTIVITY_OVERHEAD, "compare", entry.begin, entry.end);
        break;
      case TimedWhat::kMerge:
        marline_device_activity(device, MARLINE_ACTIVITY_OVERHEAD, "merge", entry.begin, entry.end);
        break;
      case TimedWhat::kPack:
        marline_device_activity(device, MARLINE_ACTIVITY_OVERHEAD, "pack", entry.begin, entry.end);
        break;
      case TimedWhat::kTransfer: report_transfer(cluster, entry); break;
    }
  }
}

}  // namespace marline::offload::device
