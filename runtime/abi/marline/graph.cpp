// SPDX-License-Identifier: Apache-2.0
//
// The entry points of include/marline/marline.h for persistent graphs. Called by the task that began the graph.
#include "construct/task/persistent.hpp"
#include "marline/marline.h"

#include "base/check.hpp"

#define MARLINE_EXPORT extern "C" [[gnu::visibility("default")]]

namespace {

marline::PersistentGraph* as_graph(marline_graph_t* graph, const char* call) {
  if (graph == nullptr) marline::fatal("%s: the graph is null; pass what marline_graph_begin returned", call);
  return reinterpret_cast<marline::PersistentGraph*>(graph);
}

}  // namespace

MARLINE_EXPORT marline_graph_t* marline_graph_begin(int mode) {
  if (mode < MARLINE_GRAPH_BARRIER || mode > MARLINE_GRAPH_REPLAY) {
    marline::fatal("marline_graph_begin: there is no mode %d; pass one of MARLINE_GRAPH_...", mode);
  }
  return reinterpret_cast<marline_graph_t*>(
      marline::graph_begin(marline::this_worker(), static_cast<marline::GraphMode>(mode)));
}

MARLINE_EXPORT int marline_graph_iterate(marline_graph_t* graph) {
  return marline::graph_iterate(as_graph(graph, "marline_graph_iterate")) ? 1 : 0;
}

MARLINE_EXPORT void marline_graph_end(marline_graph_t* graph) {
  marline::graph_end(as_graph(graph, "marline_graph_end"));
}

MARLINE_EXPORT void marline_graph_invalidate(marline_graph_t* graph) {
  marline::graph_invalidate(as_graph(graph, "marline_graph_invalidate"));
}

MARLINE_EXPORT void marline_graph_drop_task(marline_graph_t* graph) {
  marline::graph_drop_task(as_graph(graph, "marline_graph_drop_task"));
}
