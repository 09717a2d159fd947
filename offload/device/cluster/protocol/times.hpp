// SPDX-License-Identifier: Apache-2.0
//
// Records what a node of a cluster does and when, for tools of the program. Nothing is recorded unless a tool wants
// times. The program says so by putting the time of sending into each frame (Frame::a; 0: no tool wants times), and
// workers do the same in their frames to each other. A worker sends its records to the program before it reports the
// end of tasks. Under the node's lock.
#pragma once

#include "base/list.hpp"
#include "device/contract/tool_reports.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace cluster;

enum class TimedWhat : uint8_t { kKernel, kWait, kCompare, kMerge, kPack, kTransfer };
inline constexpr TimedWhat kLastTimed = TimedWhat::kTransfer;

// One record, in the format in which it is sent. The times are of the node's clock, but `begin` of a transfer is of the
// sender's clock.
struct TimedEntry {
  uint16_t what;  // TimedWhat
  uint16_t node;  // the node that made the record; filled in by the program
  uint32_t peer;  // of a transfer: the node that has sent the bytes
  uint64_t begin, end;
  uint64_t detail;  // of a kernel: its task's number; of a transfer: the number of bytes
};
inline constexpr size_t kTimedWords = sizeof(TimedEntry) / sizeof(uint64_t);
static_assert(sizeof(TimedEntry) == kTimedWords * sizeof(uint64_t));

class ClusterTimes {
 public:
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  void set_wanted(bool is_wanted) { is_wanted_ = is_wanted; }
  [[nodiscard]] uint64_t now_if_wanted() const { return is_wanted_ ? now() : 0; }

  // `begin` comes from now_if_wanted. If it is 0, nothing is recorded.
  void note(TimedWhat what, uint64_t begin, uint64_t detail = 0, uint32_t peer = 0);

  // As `note`, but an activity shorter than a microsecond is not recorded.
  void note_long(TimedWhat what, uint64_t begin);

  List<TimedEntry> entries;

 private:
  bool is_wanted_ = false;
};

// The records of this process, which is one node of one cluster.
[[nodiscard]] ClusterTimes& cluster_times();

// Records an activity from the begin to the end of its scope, unless it takes less than a microsecond.
class TimedScope {
 public:
  explicit TimedScope(TimedWhat what) : what_(what), begin_(cluster_times().now_if_wanted()) {}
  ~TimedScope() {
    if (begin_ != 0) [[unlikely]] {
      cluster_times().note_long(what_, begin_);
    }
  }
  TimedScope(const TimedScope&) = delete;
  TimedScope& operator=(const TimedScope&) = delete;

 private:
  TimedWhat what_;
  uint64_t begin_;
};

// Reports the records to the tools. Called in the program, without a lock. Records of kernels are not reported here: a
// kernel's times are reported with its construct.
void report_times(const Device* cluster, const List<TimedEntry>& entries);

}  // namespace marline::offload::device
