// SPDX-License-Identifier: Apache-2.0
//
// The option MARLINE_CLUSTER_WRITES: how the cluster finds out what a region has written. Any thread.
#pragma once

#include "device/cluster/head/memory.hpp"
#include "device/cluster/worker/node.hpp"

namespace marline::offload::device {

struct ClusterWrites {
  MayWrite may_write = MayWrite::kAll;
  bool by_pages = false;  // compare only pages that have been written
  // Check that regions write only what their depend clauses name.
  bool checks = false;

  // Whether the ranges that depend clauses name must be known.
  [[nodiscard]] bool needs_names() const { return checks || may_write == MayWrite::kNamed; }
};

// Ends the program if the variable's value is not valid.
[[nodiscard]] ClusterWrites chosen_writes();

// `word_of` encodes the part of the choice that workers need as a word of ClusterFrame::kJoin. `finding_of` decodes it.
[[nodiscard]] uint64_t word_of(const ClusterWrites& writes);
[[nodiscard]] ClusterFinding finding_of(uint64_t word);

}  // namespace marline::offload::device
