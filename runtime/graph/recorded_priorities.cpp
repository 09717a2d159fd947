// SPDX-License-Identifier: Apache-2.0
//
// Propagates the priorities of a persistent graph, once, when the graph is built, starting from the tasks' own
// priorities as recorded. Run by the producer while no task of the graph is unfinished.
#include "graph/recorded_graph.hpp"

#include "base/check.hpp"
#include "config/options.hpp"

#include <algorithm>
#include <cstdlib>

namespace marline {

namespace {

// The nodes of one instance, in an order in which predecessors come first.
class Order {
 public:
  Order(GraphNode* nodes, uint32_t count) : nodes_(nodes), count_(count) {
    auto* memory = static_cast<uint32_t*>(std::calloc(2 * size_t{count} + 1, sizeof(uint32_t)));
    if (memory == nullptr) fatal("no memory for the priorities of a persistent graph of %u nodes", count);
    order_ = memory;
    missing_ = memory + count;
    sort();
  }
  ~Order() { std::free(order_); }
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  uint32_t operator[](uint32_t place) const { return order_[place]; }

  // Edges to the next iteration are not part of the graph of one iteration.
  bool inside(const GraphNode* node) const { return node >= nodes_ && node < nodes_ + count_; }

 private:
  template <class Visit>
  void for_successors(const GraphNode& node, Visit visit) {
    for (uint32_t i = 0; i < node.successor_count; ++i) {
      if (inside(node.successors[i])) visit(static_cast<uint32_t>(node.successors[i] - nodes_));
    }
  }

  void sort() {
    for (uint32_t n = 0; n < count_; ++n) for_successors(nodes_[n], [this](uint32_t s) { ++missing_[s]; });
    uint32_t placed = 0;
    for (uint32_t n = 0; n < count_; ++n) {
      if (missing_[n] == 0) order_[placed++] = n;
    }
    for (uint32_t done = 0; done < placed; ++done) {
      for_successors(nodes_[order_[done]], [&](uint32_t s) {
        if (--missing_[s] == 0) order_[placed++] = s;
      });
    }
    MARLINE_ASSERT(placed == count_);
  }

  GraphNode* nodes_;
  uint32_t count_;
  uint32_t* order_;
  uint32_t* missing_;  // of each node: predecessors that are not in `order_` yet
};

// The priority of the node's task when it was recorded, or the propagated one if that is higher.
int32_t whole_priority(const GraphNode& node) {
  return node.task == nullptr ? node.priority : std::max(node.priority, node.task->priority.load(relaxed));
}

}  // namespace

void record_propagate(GraphRecord* record) {
  bool decrement = options().priority.propagation == Propagation::kDecrement;
  for (int instance = 0; instance < record->instances; ++instance) {
    GraphNode* nodes = record->instance[instance];
    Order order(nodes, record->node_count);
    for (uint32_t place = record->node_count; place-- > 0;) {
      GraphNode& node = nodes[order[place]];
      // Nodes without a task are not counted as a step.
      int32_t step = decrement && node.kind == NodeKind::kTask ? 1 : 0;
      for (uint32_t i = 0; i < node.successor_count; ++i) {
        if (!order.inside(node.successors[i])) continue;
        node.priority = std::max(node.priority, whole_priority(*node.successors[i]) - step);
      }
    }
  }
}

}  // namespace marline
