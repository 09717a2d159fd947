// SPDX-License-Identifier: Apache-2.0
//
// Persistent task graphs: the tasks that one task (the producer) creates repeatedly are recorded once, and re-armed
// from then on. See docs/design/persistent-graphs.md. All functions here run on the producer's thread;
// graph/recorded_graph.hpp has the functions that other threads use.
//
// A graph belongs to the current task of graph_begin. From the first graph_iterate to graph_end that task has
// task_flag::kInGraph, and its dependence table is the graph's: the constructs ask the functions of
// construct/task/persistent_steps.hpp.
#pragma once

#include "construct/task/persistent_graph.hpp"

namespace marline {

PersistentGraph* graph_begin(Worker* worker, GraphMode mode);

// Begins the next iteration. False: it has been replayed, and its body must be skipped (kReplay only).
[[nodiscard]] bool graph_iterate(PersistentGraph* graph);

// Waits for all tasks of the graph and frees it.
void graph_end(PersistentGraph* graph);

// For a graph that outlives its producers (taskgraph); each producer runs one iteration. graph_enter makes the current
// task the producer, and waits for its earlier tasks on which recorded tasks depend; graph_iterate must follow.
// graph_leave waits for the iteration, and builds or discards its record; after it the task is no longer the producer.
void graph_enter(PersistentGraph* graph, Worker* worker);
void graph_leave(PersistentGraph* graph);

void graph_invalidate(PersistentGraph* graph);
void graph_drop_task(PersistentGraph* graph);

}  // namespace marline
