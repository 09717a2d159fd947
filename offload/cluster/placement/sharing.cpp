// SPDX-License-Identifier: Apache-2.0
//
// Cuts rows into clusters and matches the clusters with nodes.
#include "cluster/placement/sharing.hpp"

#include <algorithm>

namespace marline::offload::cluster {

namespace {

constexpr uint32_t kNone = ~uint32_t{0};

template <class T>
void fill(List<T>& list, size_t count, T value) {
  list.clear();
  for (size_t i = 0; i < count; ++i) list.push(value);
}

}  // namespace

void Sharing::assign(const Placement& placement, const List<BatchTask>& tasks, const PlanRun& run,
                     List<NodeNumber>& nodes) {
  placement_ = &placement;
  tasks_ = &tasks;
  run_ = &run;
  nodes_ = &nodes;
  nodes.clear();
  for (const BatchTask& task : tasks) {
    bool is_pinned = task.request.pin != kAnyNode && placement.may_run(task.request, task.request.pin);
    nodes.push(is_pinned ? task.request.pin : 0);
  }
  if (placement.members() == 0) return;
  fill<size_t>(edge_at_, placement.members() + 1, ~size_t{0});
  find_rows();
  fill<uint32_t>(cluster_of_, tasks.count(), 0);
  fill<uint64_t>(shared_, tasks.count(), 0);
  for (size_t row = 0; row + 1 < first_of_row_.count(); ++row) {
    if (first_of_row_[row] == first_of_row_[row + 1]) continue;
    cut(first_of_row_[row], first_of_row_[row + 1]);
    match();
  }
}

void Sharing::find_rows() {
  depths_.clear();
  first_of_row_.clear();
  order_.clear();
  for (const BatchTask& task : *tasks_) {
    uint32_t depth = 0;
    for (const BatchInput& input : task.inputs) depth = std::max(depth, depths_[input.producer] + 1);
    depths_.push(depth);
    while (first_of_row_.count() <= depth + 1) first_of_row_.push(0);
    order_.push(0);
    if (task.is_free()) ++first_of_row_[depth + 1];
  }
  for (size_t row = 0; row + 1 < first_of_row_.count(); ++row) first_of_row_[row + 1] += first_of_row_[row];
  List<size_t> next;
  for (size_t first : first_of_row_) next.push(first);
  for (uint32_t i = 0; i < tasks_->count(); ++i) {
    if ((*tasks_)[i].is_free()) order_[next[depths_[i]]++] = i;
  }
}

// Makes as many clusters as the nodes can get, or as there are tasks. Their sizes differ by one at most.
void Sharing::cut(size_t first, size_t after) {
  double least = placement_->slots(1);
  for (NodeNumber node = 1; node <= placement_->members(); ++node) least = std::min(least, placement_->slots(node));
  room_.clear();
  room_.push(0);
  size_t clusters = 0, tasks = after - first;
  for (NodeNumber node = 1; node <= placement_->members(); ++node) {
    clusters += room_.push(std::max(1u, static_cast<uint32_t>(placement_->slots(node) / least)));
  }
  clusters = std::min(clusters, tasks);
  of_cluster_.clear();
  first_of_cluster_.clear();
  edges_.clear();
  first_edge_.clear();
  for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
    first_of_cluster_.push(of_cluster_.count());
    neighbours_.clear();
    size_t size = (cluster + 1) * tasks / clusters - cluster * tasks / clusters;
    for (size_t i = 0; i < size; ++i) {
      uint32_t next = best_neighbour();
      while (cluster_of_[order_[first]] != 0) ++first;
      grow(cluster, next != kNone ? next : order_[first]);
    }
    for (uint32_t task : neighbours_) shared_[task] = 0;
    list_edges(cluster);
  }
  first_of_cluster_.push(of_cluster_.count());
  first_edge_.push(edges_.count());
}

void Sharing::grow(uint32_t cluster, uint32_t number) {
  const BatchTask& task = (*tasks_)[number];
  cluster_of_[number] = cluster + 1;
  of_cluster_.push(number);
  if (task.inputs.count() > kMostInputs) return;
  for (const BatchInput& input : task.inputs) {
    PlanRun::Readers readers = run_->readers_of(input.producer);
    if (static_cast<size_t>(readers.end() - readers.begin()) > kMostReaders) continue;
    for (const PlanRun::Reader& reader : readers) {
      bool may_join = depths_[reader.task] == depths_[number] && cluster_of_[reader.task] == 0;
      uint64_t bytes = std::min(reader.bytes, input.bytes);
      if (!may_join || bytes == 0) continue;
      if (shared_[reader.task] == 0 && neighbours_.count() == kMostNeighbours) continue;
      if (shared_[reader.task] == 0) neighbours_.push(reader.task);
      shared_[reader.task] += bytes;
    }
  }
}

// kNone: no neighbour is left.
uint32_t Sharing::best_neighbour() {
  uint32_t best = kNone;
  for (uint32_t task : neighbours_) {
    if (cluster_of_[task] != 0 || !(*tasks_)[task].is_free()) continue;
    bool is_better = best == kNone || shared_[task] > shared_[best] || (shared_[task] == shared_[best] && task < best);
    if (is_better) best = task;
  }
  return best;
}

// Lists the nodes that have inputs of the cluster's tasks. An input that two of them read counts twice for a node that
// has it, like two inputs of that size.
void Sharing::list_edges(uint32_t cluster) {
  size_t first = edges_.count();
  first_edge_.push(first);
  auto add = [&](NodeNumber node, uint64_t bytes) {
    if (node == 0 || node >= edge_at_.count() || bytes == 0) return;
    if (edge_at_[node] != ~size_t{0}) return void(edges_[edge_at_[node]].bytes += bytes);
    edge_at_[node] = edges_.count();
    edges_.push({bytes, cluster, node});
  };
  for (size_t i = first_of_cluster_[cluster]; i < of_cluster_.count(); ++i) {
    const BatchTask& task = (*tasks_)[of_cluster_[i]];
    if (task.inputs.count() > kMostInputs) continue;
    for (const BatchInput& input : task.inputs) add((*nodes_)[input.producer], input.bytes);
    for (const BatchHolder& holder : task.holders) add(holder.node, holder.bytes);
  }
  for (size_t i = first; i < edges_.count(); ++i) edge_at_[edges_[i].node] = ~size_t{0};
  std::sort(edges_.begin() + first, edges_.end());
}

void Sharing::give(uint32_t cluster, NodeNumber node) {
  given_[cluster] = node;
  --room_[node];
  last_given_[node] = cluster + 1;
  for (size_t i = first_of_cluster_[cluster]; i < first_of_cluster_[cluster + 1]; ++i) {
    uint32_t task = of_cluster_[i];
    (*nodes_)[task] = placement_->may_run((*tasks_)[task].request, node) ? node : 0;
  }
}

// Gives nodes to clusters, most bytes first. If all nodes of a cluster are taken, another cluster is moved to a second
// node of its own, if possible. The remaining clusters get nodes in the order of the nodes.
void Sharing::match() {
  size_t clusters = first_of_cluster_.count() - 1;
  fill<NodeNumber>(given_, clusters, 0);
  fill<uint32_t>(last_given_, room_.count(), 0);
  List<Edge> sorted;
  for (const Edge& edge : edges_) sorted.push(edge);
  std::sort(sorted.begin(), sorted.end());
  for (const Edge& edge : sorted) {
    if (given_[edge.cluster] == 0 && room_[edge.node] != 0) give(edge.cluster, edge.node);
  }
  for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
    if (given_[cluster] == 0) make_room(cluster);
  }
  NodeNumber node = 1;
  for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
    if (given_[cluster] != 0) continue;
    while (room_[node] == 0) ++node;
    give(cluster, node);
  }
}

void Sharing::make_room(uint32_t cluster) {
  for (size_t i = first_edge_[cluster]; i < first_edge_[cluster + 1]; ++i) {
    NodeNumber node = edges_[i].node;
    if (last_given_[node] == 0) continue;
    uint32_t other = last_given_[node] - 1;
    for (size_t k = first_edge_[other]; k < first_edge_[other + 1]; ++k) {
      if (room_[edges_[k].node] == 0) continue;
      give(other, edges_[k].node);
      ++room_[node];
      give(cluster, node);
      return;
    }
  }
}

}  // namespace marline::offload::cluster
