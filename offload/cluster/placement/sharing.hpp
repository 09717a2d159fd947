// SPDX-License-Identifier: Apache-2.0
//
// Chooses nodes by what tasks read in common. Tasks with equally long chains of producers form a row. A row is cut into
// as many clusters as the nodes can run at the same time. A cluster begins with the first task that is left; then it
// repeatedly gets the task that shares the most bytes of its inputs with the cluster's tasks. Then each cluster goes to
// a node that has most of its inputs, and each node gets clusters in proportion to its slots (rounded down). This is
// greedy, but one cluster may push another to a second node. So a step of an FFT, whose tasks read columns at a
// distance, has the readers of these columns together, wherever the columns were made. Only data that tasks of the
// batch make counts as common. A task costs O(inputs * kMostReaders + kMostNeighbours). A pure function of node 0.
#pragma once

#include "cluster/placement/plan_run.hpp"

namespace marline::offload::cluster {

class Sharing {
 public:
  // Sets the nodes of the tasks that `run` was begun with; 0: no advice.
  void assign(const Placement& placement, const List<BatchTask>& tasks, const PlanRun& run, List<NodeNumber>& nodes);

 private:
  // Data that more tasks than this read does not tell which of them belong together.
  static constexpr size_t kMostReaders = 32, kMostInputs = 64, kMostNeighbours = 256;
  struct Edge {
    uint64_t bytes;  // how many bytes of the cluster's inputs the node has
    uint32_t cluster;
    NodeNumber node;
    bool operator<(const Edge& other) const {
      return bytes != other.bytes       ? bytes > other.bytes
             : cluster != other.cluster ? cluster < other.cluster
                                        : node < other.node;
    }
  };

  void find_rows();
  void cut(size_t first, size_t after);
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
  List<uint32_t> depths_, order_;  // the depths by task; the tasks that are not tied to a node, by depth
  List<size_t> first_of_row_;      // index in `order_`; one more entry at the end
  // For a row:
  List<uint32_t> cluster_of_;      // by task: the number of its cluster plus one; 0: none yet
  List<uint64_t> shared_;          // by task: bytes that it shares with the cluster that is growing
  List<uint32_t> neighbours_;      // tasks that share bytes with that cluster; not all of them if they are many
  List<uint32_t> of_cluster_;      // the tasks, by cluster
  List<size_t> first_of_cluster_;  // index in `of_cluster_`; one more entry at the end
  List<Edge> edges_;               // by cluster
  List<size_t> first_edge_;        // by cluster; one more entry at the end
  List<size_t> edge_at_;           // by node, from 0 on: its edge of the cluster whose edges are being listed; ~0: none
  List<NodeNumber> given_;         // by cluster: its node
  List<uint32_t> room_;            // by node, from 0 on: how many clusters it can still get
  List<uint32_t> last_given_;      // by node: the number of the cluster that it got last plus one; 0: none
};

}  // namespace marline::offload::cluster
