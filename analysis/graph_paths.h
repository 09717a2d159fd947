/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths through the graph of a trace (python/marline/trace/global_graph), for what arrays in NumPy cannot: each step of
 * a path needs the step before. python/marline/trace/native.py calls these functions by ctypes. All arrays are the
 * caller's, and have `nodes` or `edges` elements; times and weights are nanoseconds. No state; thread-safe.
 */
#ifndef MARLINE_ANALYSIS_GRAPH_PATHS_H
#define MARLINE_ANALYSIS_GRAPH_PATHS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Edge e leads from node source[e] to node sink[e], and takes weight[e] >= 0. */
typedef struct MarlineGraph {
  int64_t nodes;
  int64_t edges;
  const int64_t* source;
  const int64_t* sink;
  const int64_t* weight;
} MarlineGraph;

/* Puts the edges into `order` (of `edges` elements): each stands after all edges that lead to its source (Kahn 1962).
 * The edges of a node stand together, and nodes come as they are freed. Returns how many edges have a place: all but
 * those from nodes on cycles and after them; -1 if there is no memory; -2 if an edge names no node, or there are 2^31
 * nodes or edges. */
__attribute__((visibility("default"))) int64_t marline_sort_edges(const MarlineGraph* graph, int32_t* order);

/* What marline_longest_paths is told of the nodes, and says of them. `via` and `latest` may be null: not asked for. */
typedef struct MarlinePaths {
  int64_t* earliest; /* before: how late node n is even if nothing leads to it; after: the length of the longest path to
                        it, which begins with that of its first node */
  int64_t* via;      /* that path's last edge, -1 if it begins here; of several the first in the order */
  int64_t* latest;   /* the latest time for n with which the longest path of the graph is no longer */
} MarlinePaths;

/* The longest paths (Cormen et al., Introduction to Algorithms, 24.5; the critical path method). `order`: of `count`
 * edges, by marline_sort_edges of this graph, or of one that has more edges after these: they are passed over. */
__attribute__((visibility("default"))) void marline_longest_paths(const MarlineGraph* graph, const int32_t* order,
                                                                  int64_t count, const MarlinePaths* paths);

/* The path's edges before node `from`, by `via` of marline_longest_paths: writes them into `path` (of `edges`
 * elements), the last one first. Returns how many. */
__attribute__((visibility("default"))) int64_t marline_path_to(const MarlineGraph* graph, const int64_t* via,
                                                               int64_t from, int64_t* path);

/* Back from node `from`, each time by the edge whose source has the greatest time[], to a node without edges into it.
 * Writes the edges into `path` (of `edges` elements), the last one first. Of equal times the later edge is taken.
 * Returns how many; -1 if there is no memory; -2 if an edge names no node. A cycle of equal times ends the path. */
__attribute__((visibility("default"))) int64_t marline_last_arrivals(const MarlineGraph* graph, const int64_t* time,
                                                                     int64_t from, int64_t* path);

#ifdef __cplusplus
}
#endif

#endif
