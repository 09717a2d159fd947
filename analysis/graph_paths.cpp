// SPDX-License-Identifier: Apache-2.0
//
// Kahn's order, which also finds cycles; longest paths by it; and the path of last arrivals. Every function takes one
// pass over the edges or two. The order is of edges, not of nodes, as nothing else need be known to follow them. The
// library needs the C library alone: a static libstdc++ would need a newer glibc than others.
#include "graph_paths.h"

#include <stdlib.h>

namespace {

constexpr int64_t kMost = INT32_MAX;  // nodes, and edges: their numbers lie close together
constexpr int64_t kAhead = 16;        // so many edges before its turn, what an edge needs is fetched from memory

// Zeros at first. Has no elements if there is no memory: has_all says so, before any is used.
template <typename T>
class Column {
 public:
  explicit Column(int64_t size) : items_(static_cast<T*>(calloc(size > 0 ? size : 1, sizeof(T)))) {}
  ~Column() { free(items_); }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  bool has_all() const { return items_ != nullptr; }
  T& operator[](int64_t at) { return items_[at]; }
  const T& operator[](int64_t at) const { return items_[at]; }

 private:
  T* items_;
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

// The edges by their source: those of node n are edges[first[n]] to edges[first[n + 1] - 1]. missing[n]: how many lead
// to it.
struct Outgoing {
  Column<int32_t> first, missing, edges;
  explicit Outgoing(const MarlineGraph& graph) : first(graph.nodes + 2), missing(graph.nodes), edges(graph.edges) {}

  bool has_all() const { return first.has_all() && missing.has_all() && edges.has_all(); }

  void sort(const MarlineGraph& graph) {
    // One place further: while edges are put down, first[n + 1] is where the next one of node n goes.
    for (int64_t edge = 0; edge < graph.edges; ++edge) ++first[graph.source[edge] + 2], ++missing[graph.sink[edge]];
    for (int64_t node = 2; node <= graph.nodes; ++node) first[node] += first[node - 1];
    for (int64_t edge = 0; edge < graph.edges; ++edge)
      edges[first[graph.source[edge] + 1]++] = static_cast<int32_t>(edge);
  }
};

void go_forward(const MarlineGraph& graph, const int32_t* order, int64_t count, const MarlinePaths& paths) {
  for (int64_t at = 0; at < count; ++at) {
    const int64_t edge = order[at];
    if (at + kAhead < count) __builtin_prefetch(&graph.sink[order[at + kAhead]]);
    if (edge >= graph.edges) continue;
    const int64_t sink = graph.sink[edge], length = paths.earliest[graph.source[edge]] + graph.weight[edge];
    const bool is_first = paths.via != nullptr && paths.via[sink] < 0 && length == paths.earliest[sink];
    if (length <= paths.earliest[sink] && !is_first) continue;
    paths.earliest[sink] = length;
    if (paths.via != nullptr) paths.via[sink] = edge;
  }
}

void go_back(const MarlineGraph& graph, const int32_t* order, int64_t count, int64_t* latest) {
  for (int64_t at = count; at-- > 0;) {
    const int64_t edge = order[at];
    if (at >= kAhead) __builtin_prefetch(&graph.source[order[at - kAhead]]);
    if (edge >= graph.edges) continue;
    const int64_t source = graph.source[edge], time = latest[graph.sink[edge]] - graph.weight[edge];
    if (time < latest[source]) latest[source] = time;
  }
}

}  // namespace

int64_t marline_sort_edges(const MarlineGraph* graph, int32_t* order) {
  if (graph->nodes > kMost || graph->edges > kMost || !has_all_nodes(*graph)) return -2;
  Outgoing out(*graph);
  Column<int32_t> ready(graph->nodes);
  if (!out.has_all() || !ready.has_all()) return -1;
  out.sort(*graph);
  int64_t count = 0, sorted = 0;
  for (int64_t node = 0; node < graph->nodes; ++node)
    if (out.missing[node] == 0) ready[count++] = static_cast<int32_t>(node);
  for (int64_t done = 0; done < count; ++done) {
    const int64_t node = ready[done];
    for (int64_t at = out.first[node]; at < out.first[node + 1]; ++at) {
      const int64_t sink = graph->sink[order[sorted++] = out.edges[at]];
      if (--out.missing[sink] == 0) ready[count++] = static_cast<int32_t>(sink);
    }
  }
  return sorted;
}

void marline_longest_paths(const MarlineGraph* graph, const int32_t* order, int64_t count, const MarlinePaths* paths) {
  if (paths->via != nullptr) fill(paths->via, graph->nodes, -1);
  go_forward(*graph, order, count, *paths);
  if (paths->latest == nullptr) return;
  int64_t longest = 0;
  for (int64_t node = 0; node < graph->nodes; ++node)
    if (paths->earliest[node] > longest) longest = paths->earliest[node];
  fill(paths->latest, graph->nodes, longest);
  go_back(*graph, order, count, paths->latest);
}

int64_t marline_path_to(const MarlineGraph* graph, const int64_t* via, int64_t from, int64_t* path) {
  int64_t length = 0;
  for (int64_t edge = via[from]; edge >= 0; edge = via[graph->source[edge]]) path[length++] = edge;
  return length;
}

int64_t marline_last_arrivals(const MarlineGraph* graph, const int64_t* time, int64_t from, int64_t* path) {
  if (from < 0 || from >= graph->nodes || !has_all_nodes(*graph)) return -2;
  Column<int64_t> last(graph->nodes);  // by node: the edge to follow, plus 1; 0: none
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
