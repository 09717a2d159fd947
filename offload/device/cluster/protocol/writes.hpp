// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_CLUSTER_WRITES: how the cluster finds out what a region has written. Any thread.
#pragma once

#include "device/cluster/head/memory.hpp"
#include "device/cluster/worker/node.hpp"

namespace marline::offload::device {

struct ClusterWrites {
  MayWrite may_write = MayWrite::kAll;
  bool by_pages = false;
  bool checks = false;  // that it has written only what its depend clauses name

  [[nodiscard]] bool needs_names() const { return checks || may_write == MayWrite::kNamed; }
};

// Ends the program if the variable's value is none.
[[nodiscard]] ClusterWrites chosen_writes();

// As a word of ClusterFrame::kJoin.
[[nodiscard]] uint64_t word_of(const ClusterWrites& writes);
[[nodiscard]] ClusterFinding finding_of(uint64_t word);

}  // namespace marline::offload::device
