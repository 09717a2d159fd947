// SPDX-License-Identifier: Apache-2.0
//
// Nodes by what tasks read in common. Rows of tasks with equally long chains of producers are cut into clusters, as
// many as nodes can have at the same time: each begins with the first task that is left, and gets the one that shares
// most bytes of its inputs with those it has. Then clusters go to nodes that have most of their inputs, each node in
// proportion to its slots (rounded down): greedily, but that one cluster may push another to a second node. So a step
// of an FFT, whose tasks read columns at a distance, has these columns' readers together, wherever the columns were
// made. Only what tasks of the batch make counts as common. A task costs O(inputs * kMostReaders + kMostNeighbours). A
// pure function of node 0.
#pragma once

#include "cluster/placement/plan_run.hpp"

namespace marline::offload::cluster {

class Sharing {
 public:
  // Of the tasks that `run` has been begun with: nodes, 0 where there is no advice.
  void assign(const Placement& placement, const List<BatchTask>& tasks, const PlanRun& run, List<NodeNumber>& nodes);

 private:
  // What more tasks read says nothing of which of them belong together.
  static constexpr size_t kMostReaders = 32, kMostInputs = 64, kMostNeighbours = 256;
  struct Edge {
    uint64_t bytes;  // of the cluster's inputs that the node has
    uint32_t cluster;
    NodeNumber node;
    bool operator<(const Edge& other) const {
      return bytes != other.bytes       ? bytes > other.bytes
             : cluster != other.cluster ? cluster < other.cluster
                                        : node < other.node;
    }
  };

  void find_rows();
  void cut(size_t first, size_t behind);
  void grow(uint32_t cluster, uint32_t task);
  [[nodiscard]] uint32_t best_neighbour();
  void list_edges(uint32_t cluster);
  void match();
  void make_room(uint32_t cluster);
  void give(uint32_t cluster, NodeNumber node);

  const Placement* placement_ = nullptr;
  const List<BatchTask>* tasks_ = nullptr;
  const PlanRun* run_ = nullptr;
  List<NodeNumber>* nodes_ = nullptr;
  List<uint32_t> depths_, order_;  // by task; tasks that may be anywhere, by depth
  List<size_t> first_of_row_;      // in `order_`; one more at the end
  // Of a row:
  List<uint32_t> cluster_of_;      // by task: one more than its cluster; 0: none yet
  List<uint64_t> shared_;          // by task: bytes that it shares with the cluster that grows
  List<uint32_t> neighbours_;      // tasks with such bytes, not all if they are many
  List<uint32_t> of_cluster_;      // tasks, by cluster
  List<size_t> first_of_cluster_;  // in `of_cluster_`; one more at the end
  List<Edge> edges_;               // by cluster
  List<size_t> first_edge_;        // of each cluster; one more at the end
  List<size_t> edge_at_;           // by node, from 0 on: of the cluster whose edges are listed; ~0: it has none
  List<NodeNumber> given_;         // by cluster
  List<uint32_t> room_;            // by node, from 0 on: clusters that it can get
  List<uint32_t> last_given_;      // by node: one more than the cluster that it has got last; 0: none
};

}  // namespace marline::offload::cluster
