// SPDX-License-Identifier: Apache-2.0
//
// Keeps the graphs of taskgraph constructs, by construct and graph_id. A graph serves one thread at a time; if several
// threads are in regions of the same id at once, each gets a graph of its own, which later threads use again. All
// functions may be called by any thread.
#pragma once

#include "base/atomic.hpp"
#include "construct/task/persistent.hpp"

#include <cstdint>

namespace marline::kmp {

// What the compiler's handle of a construct points to, from the construct's first region to the end of the process.
struct TaskgraphConstruct;

struct TaskgraphId;

struct StoredGraph {
  StoredGraph* next;  // with the same id, and idle
  TaskgraphId* id;
  PersistentGraph* graph;
  uint64_t resets;  // value of TaskgraphId::resets when the graph was last taken
};

// Takes a graph for the caller alone. `reset`: none of the graphs with this id is replayed any more.
[[nodiscard]] StoredGraph* take_graph(Atomic<TaskgraphConstruct*>& handle, uintptr_t id, bool reset, Worker* worker);

void give_back_graph(Atomic<TaskgraphConstruct*>& handle, StoredGraph* stored);

}  // namespace marline::kmp
