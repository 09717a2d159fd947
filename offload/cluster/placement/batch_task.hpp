// SPDX-License-Identifier: Apache-2.0
//
// A task as the placement of many tasks at once sees it.
#pragma once

#include "cluster/placement/placement.hpp"

namespace marline::offload::cluster {

// What a task uses and an earlier task of the batch makes. 0 bytes: only an order.
struct BatchInput {
  uint32_t producer;
  uint64_t bytes;
};

struct BatchHolder {
  NodeNumber node;
  uint64_t bytes;
};

struct BatchTask {
  PlacementRequest request;  // its lists are not set
  bool is_on_host = false;
  List<BatchInput> inputs;
  uint64_t outside = 0;       // bytes that it uses and no task of the batch makes
  List<BatchHolder> holders;  // the nodes that have some of these bytes
  uint64_t written = 0;       // a number that identifies the first range that it writes; 0: it writes nothing
  NodeNumber owner = 0;       // a node that has this range when the batch is made; 0: the range is new
  // The task's number, in the order of creation, among the tasks with equally long chains of predecessors.
  uint64_t rank = 0;
  // How many such tasks there are, of which some may be outside of the batch.
  uint64_t width = 1;
  double ready = 0;       // the time until its last predecessor outside of the batch ends
  NodeNumber before = 0;  // its node in the iteration before, if it may stay there or move; otherwise 0

  // It may run at any node that has an image for it.
  [[nodiscard]] bool is_free() const { return !is_on_host && request.pin == kAnyNode; }
  // How many of the `outside` bytes the node lacks.
  [[nodiscard]] uint64_t missing_at(NodeNumber node) const {
    for (const BatchHolder& holder : holders) {
      if (holder.node == node) return outside - (outside < holder.bytes ? outside : holder.bytes);
    }
    return outside;
  }
  // The node that these bytes come from.
  [[nodiscard]] NodeNumber source() const { return holders.is_empty() ? 0 : holders[0].node; }
};

}  // namespace marline::offload::cluster
