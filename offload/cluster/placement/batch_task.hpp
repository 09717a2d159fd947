// SPDX-License-Identifier: Apache-2.0
//
// A task as the placement of many at once sees it.
#pragma once

#include "cluster/placement/placement.hpp"

namespace marline::offload::cluster {

// What a task uses and an earlier one of the batch makes; no bytes: an order alone.
struct BatchInput {
  uint32_t producer;
  uint64_t bytes;
};

struct BatchHolder {
  NodeNumber node;
  uint64_t bytes;
};

struct BatchTask {
  PlacementRequest request;  // without the lists
  bool is_on_host = false;
  List<BatchInput> inputs;
  uint64_t outside = 0;       // bytes that it uses and somebody else makes or has made
  List<BatchHolder> holders;  // of those
  uint64_t written = 0;       // a number for the first range that it writes; 0: it writes nothing
  NodeNumber owner = 0;       // a node that has that when the batch is made; 0: it is new
  uint64_t rank = 0;          // among tasks with equally long chains of predecessors, in the order of creation,
  uint64_t width = 1;         // of which there are so many, some perhaps not of the batch
  double ready = 0;           // until the last predecessor ends that is not of the batch
  NodeNumber before = 0;      // where it ran in the iteration before, if it may stay or go; else 0

  // It may be at any node that can run it.
  [[nodiscard]] bool is_free() const { return !is_on_host && request.pin == kAnyNode; }
  // Of `outside`, what the node lacks.
  [[nodiscard]] uint64_t missing_at(NodeNumber node) const {
    for (const BatchHolder& holder : holders) {
      if (holder.node == node) return outside - (outside < holder.bytes ? outside : holder.bytes);
    }
    return outside;
  }
  // Where that comes from.
  [[nodiscard]] NodeNumber source() const { return holders.is_empty() ? 0 : holders[0].node; }
};

}  // namespace marline::offload::cluster
