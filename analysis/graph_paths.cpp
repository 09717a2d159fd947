// SPDX-License-Identifier: Apache-2.0
//
// Longest paths by Kahn's order, which also finds cycles, and the path of last arrivals. Every function takes one pass
// over the edges or two. The library needs the C library alone: a static libstdc++ would need a newer glibc than
// others.
#include "graph_paths.h"

#include <stdlib.h>

namespace {

// Zeros at first. Has no elements if there is no memory: has_all says so, before any is used.
class Column {
 public:
  explicit Column(int64_t size) : items_(static_cast<int64_t*>(calloc(size > 0 ? size : 1, sizeof(int64_t)))) {}
  ~Column() { free(items_); }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  bool has_all() const { return items_ != nullptr; }
  int64_t& operator[](int64_t at) { return items_[at]; }
  const int64_t& operator[](int64_t at) const { return items_[at]; }

 private:
  int64_t* items_;
};

void fill(int64_t* items, int64_t size, int64_t value) {
  for (int64_t at = 0; at < size; ++at) items[at] = value;
}

bool has_all_nodes(const MarlineGraph& graph) {
  for (int64_t edge = 0; edge < graph.edges; ++edge) {
    const int64_t source = graph.source[edge], sink = graph.sink[edge];
    if (source < 0 || source >= graph.nodes || sink < 0 || sink >= graph.nodes) return false;
  }
  return true;
}

// The edges by their source: those of node n are edges[first[n]] to edges[first[n + 1] - 1].
struct Outgoing {
  Column first;
  Column edges;
  explicit Outgoing(const MarlineGraph& graph) : first(graph.nodes + 2), edges(graph.edges) {}

  bool has_all() const { return first.has_all() && edges.has_all(); }

  void sort(const MarlineGraph& graph) {
    // One place further: while edges are put down, first[n + 1] is where the next one of node n goes.
    for (int64_t edge = 0; edge < graph.edges; ++edge) ++first[graph.source[edge] + 2];
    for (int64_t node = 2; node <= graph.nodes; ++node) first[node] += first[node - 1];
    for (int64_t edge = 0; edge < graph.edges; ++edge) edges[first[graph.source[edge] + 1]++] = edge;
  }
};

// Puts the nodes into `order`, each after all from which edges lead to it. Returns how many: not all if there are
// cycles. `missing`: zeros.
int64_t sort_nodes(const MarlineGraph& graph, const Outgoing& out, Column& missing, Column& order) {
  int64_t count = 0;
  for (int64_t edge = 0; edge < graph.edges; ++edge) ++missing[graph.sink[edge]];
  for (int64_t node = 0; node < graph.nodes; ++node)
    if (missing[node] == 0) order[count++] = node;
  for (int64_t done = 0; done < count; ++done) {
    for (int64_t at = out.first[order[done]]; at < out.first[order[done] + 1]; ++at) {
      const int64_t sink = graph.sink[out.edges[at]];
      if (--missing[sink] == 0) order[count++] = sink;
    }
  }
  return count;
}

// Returns the length of the longest path.
int64_t go_forward(const MarlineGraph& graph, const Outgoing& out, const Column& order, int64_t* earliest,
                   int64_t* via) {
  int64_t longest = 0;
  for (int64_t done = 0; done < graph.nodes; ++done) {
    const int64_t node = order[done];
    if (earliest[node] > longest) longest = earliest[node];
    for (int64_t at = out.first[node]; at < out.first[node + 1]; ++at) {
      const int64_t edge = out.edges[at], sink = graph.sink[edge], length = earliest[node] + graph.weight[edge];
      if (via[sink] >= 0 && length <= earliest[sink]) continue;
      earliest[sink] = length;
      via[sink] = edge;
    }
  }
  return longest;
}

void go_back(const MarlineGraph& graph, const Outgoing& out, const Column& order, int64_t* latest) {
  for (int64_t left = graph.nodes; left-- > 0;) {
    const int64_t node = order[left];
    for (int64_t at = out.first[node]; at < out.first[node + 1]; ++at) {
      const int64_t edge = out.edges[at], time = latest[graph.sink[edge]] - graph.weight[edge];
      if (time < latest[node]) latest[node] = time;
    }
  }
}

}  // namespace

int64_t marline_longest_paths(const MarlineGraph* graph, int64_t* earliest, int64_t* via, int64_t* latest) {
  if (!has_all_nodes(*graph)) return -2;
  Outgoing out(*graph);
  Column missing(graph->nodes), order(graph->nodes);
  if (!out.has_all() || !missing.has_all() || !order.has_all()) return -1;
  out.sort(*graph);
  const int64_t sorted = sort_nodes(*graph, out, missing, order);
  if (sorted < graph->nodes) return graph->nodes - sorted;
  fill(earliest, graph->nodes, 0);
  fill(via, graph->nodes, -1);
  fill(latest, graph->nodes, go_forward(*graph, out, order, earliest, via));
  go_back(*graph, out, order, latest);
  return 0;
}

int64_t marline_path_to(const MarlineGraph* graph, const int64_t* via, int64_t from, int64_t* path) {
  int64_t length = 0;
  for (int64_t edge = via[from]; edge >= 0; edge = via[graph->source[edge]]) path[length++] = edge;
  return length;
}

int64_t marline_last_arrivals(const MarlineGraph* graph, const int64_t* time, int64_t from, int64_t* path) {
  if (from < 0 || from >= graph->nodes || !has_all_nodes(*graph)) return -2;
  Column last(graph->nodes);  // by node: the edge to follow, plus 1; 0: none
  if (!last.has_all()) return -1;
  for (int64_t edge = 0; edge < graph->edges; ++edge) {
    int64_t& known = last[graph->sink[edge]];
    if (known == 0 || time[graph->source[edge]] >= time[graph->source[known - 1]]) known = edge + 1;
  }
  int64_t length = 0;
  for (int64_t node = from; last[node] != 0;) {
    const int64_t edge = last[node] - 1;
    last[node] = 0;  // not again: a cycle ends here
    path[length++] = edge;
    node = graph->source[edge];
  }
  return length;
}
