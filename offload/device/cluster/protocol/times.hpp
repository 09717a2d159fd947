// SPDX-License-Identifier: Apache-2.0
//
// What a node of a cluster does and when, for tools of the program. Nothing is noted unless one wants times: the
// program says so in each frame, by the time that it has sent it, and a worker likewise to others (Frame::a; 0: nobody
// does). Workers send what they have noted to the program ahead of the ends of tasks. Under the node's lock.
#pragma once

#include "cluster/base/list.hpp"
#include "device/contract/tell.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace cluster;

enum class TimedWhat : uint8_t { kKernel, kWait, kCompare, kMerge, kPack, kTransfer };
inline constexpr TimedWhat kLastTimed = TimedWhat::kTransfer;

// As it travels, in words. Times are of the node's clock; `begin` of a transfer is of the sender's.
struct TimedEntry {
  uint16_t what;  // TimedWhat
  uint16_t node;  // whose it is; filled in by the program
  uint32_t peer;  // of a transfer: the node that it comes from
  uint64_t begin, end;
  uint64_t detail;  // of a kernel the task, of a transfer its bytes
};
inline constexpr size_t kTimedWords = sizeof(TimedEntry) / sizeof(uint64_t);
static_assert(sizeof(TimedEntry) == kTimedWords * sizeof(uint64_t));

class ClusterTimes {
 public:
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  void set_wanted(bool is_wanted) { is_wanted_ = is_wanted; }
  [[nodiscard]] uint64_t now_if_wanted() const { return is_wanted_ ? now() : 0; }

  // `begin`: of now_if_wanted; 0: nothing is noted.
  void note(TimedWhat what, uint64_t begin, uint64_t detail = 0, uint32_t peer = 0);

  // Likewise, unless it was over within a microsecond.
  void note_long(TimedWhat what, uint64_t begin);

  List<TimedEntry> entries;

 private:
  bool is_wanted_ = false;
};

// This process's, which is one node of one cluster.
[[nodiscard]] ClusterTimes& cluster_times();

// Notes what the scope does, unless it is over within a microsecond.
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

// In the program, without a lock: kernels are told with their constructs, all else here.
void tell_times(const Device* cluster, const List<TimedEntry>& entries);

}  // namespace marline::offload::device
