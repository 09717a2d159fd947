// SPDX-License-Identifier: Apache-2.0
//
// Keeps a number for each node from 1 on, and finds the node with the least number. A change costs O(log n). One owner
// at a time.
#pragma once

#include "cluster/base/message.hpp"

namespace marline::offload::cluster {

class Tournament {
 public:
  [[nodiscard]] size_t count() const { return values_.count(); }
  [[nodiscard]] double operator[](NodeNumber node) const { return values_[node - 1]; }
  // The node with the least number; of nodes with equal numbers, the lower one. 0: there are no nodes.
  [[nodiscard]] NodeNumber least() const { return tree_.is_empty() ? 0 : tree_[1]; }

  // Adds a node.
  void add(double value) {
    values_.push(value);
    leaves_ = leaves_ == 0 ? 1 : leaves_;
    while (leaves_ < values_.count()) leaves_ *= 2;
    tree_.clear();
    for (size_t i = 0; i < 2 * leaves_; ++i) tree_.push(0);
    for (size_t i = 0; i < values_.count(); ++i) tree_[leaves_ + i] = static_cast<NodeNumber>(i + 1);
    for (size_t i = leaves_; i-- > 1;) tree_[i] = better(tree_[2 * i], tree_[2 * i + 1]);
  }

  void set(NodeNumber node, double value) {
    values_[node - 1] = value;
    for (size_t i = (leaves_ + node - 1) / 2; i >= 1; i /= 2) tree_[i] = better(tree_[2 * i], tree_[2 * i + 1]);
  }

  void clear() {
    values_.clear();
    tree_.clear();
    leaves_ = 0;
  }
  void copy(const Tournament& other) {
    clear();
    for (double value : other.values_) values_.push(value);
    for (NodeNumber node : other.tree_) tree_.push(node);
    leaves_ = other.leaves_;
  }

 private:
  [[nodiscard]] NodeNumber better(NodeNumber a, NodeNumber b) const {
    if (a == 0 || b == 0) return a == 0 ? b : a;
    return values_[b - 1] < values_[a - 1] ? b : a;
  }

  List<double> values_;    // entry 0 is node 1
  List<NodeNumber> tree_;  // the winner of each pair; entry 1 is the node with the least number; 0: no node
  size_t leaves_ = 0;
};

}  // namespace marline::offload::cluster
