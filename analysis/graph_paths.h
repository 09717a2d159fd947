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

/* earliest[n]: the length of the longest path that ends at node n; via[n]: that path's last edge, -1 if it begins
 * here; latest[n]: the latest time for n with which the longest path of the graph is no longer. (Cormen et al.,
 * Introduction to Algorithms, 24.5; the critical path method.) Returns 0; the number of nodes on cycles and after them,
 * if there are any: then the results mean nothing; -1 if there is no memory; -2 if an edge names no node. */
__attribute__((visibility("default"))) int64_t marline_longest_paths(const MarlineGraph* graph, int64_t* earliest,
                                                                     int64_t* via, int64_t* latest);

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
