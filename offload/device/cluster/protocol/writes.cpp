// SPDX-License-Identifier: Apache-2.0
//
// Parses MARLINE_CLUSTER_WRITES and encodes it for the workers.
#include "device/cluster/protocol/writes.hpp"

#include "base/options.hpp"

namespace marline::offload::device {

namespace {

constexpr uint64_t kByPages = 1, kChecks = 2;

// The value is one word, or two of which one is `pages`.
bool read_writes(Cursor& in, ClusterWrites& writes) {
  static constexpr const char* kWords[] = {"diff", "map", "depend", "check", "pages"};
  int others = 0;
  do {
    switch (in.accept_one_of(kWords)) {
      case 0: break;
      case 1: writes.may_write = MayWrite::kMapped; break;
      case 2: writes.may_write = MayWrite::kNamed; break;
      case 3: writes.checks = true; break;
      case 4:
        if (writes.by_pages) return false;
        writes.by_pages = true;
        continue;
      default: return false;
    }
    if (++others > 1) return false;
  } while (in.accept(','));
  return true;
}

const CheckedAtLoad g_checked(Option::kClusterWrites, [] { (void)chosen_writes(); });

}  // namespace

ClusterWrites chosen_writes() { return option_as<ClusterWrites>(Option::kClusterWrites, read_writes); }

uint64_t word_of(const ClusterWrites& writes) {
  return (writes.by_pages ? kByPages : 0) | (writes.checks ? kChecks : 0);
}

ClusterFinding finding_of(uint64_t word) {
  ClusterFinding finding;
  finding.compares = true;
  finding.by_pages = (word & kByPages) != 0;
  finding.checks = (word & kChecks) != 0;
  return finding;
}

}  // namespace marline::offload::device
