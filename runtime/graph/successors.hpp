// SPDX-License-Identifier: Apache-2.0
//
// The successor list of a task: producers add edges, the completion closes the list.
//
// Invariant: `successors` goes from a list of edges to `closed` once, by the one exchange at completion. An edge is
// added by a compare-and-swap that fails once the list is closed, so each edge is either added before (and the
// completion takes it) or refused (and the successor does not wait for this task). A successor's `predecessors` counts
// the edges that were added, plus the creator's guard: it reaches zero exactly once, and the thread that brings it to
// zero makes the task ready. Model: tests/model/successors.pml.
#pragma once

#include "task/task.hpp"

namespace marline {

// An edge is in the memory of its successor, which lives at least until its last predecessor has taken the edge.
struct Edge {
  Edge* next;
  Task* successor;
};

static_assert(sizeof(Edge) == kEdgeBytes);

// Edges of a task beyond the edges in its descriptor. Used by the creator, until the task's memory is freed.
struct EdgeChunk {
  static constexpr int kEdges = 30;
  EdgeChunk* next;
  Edge edges[kEdges];
};

inline Edge* closed_list() { return reinterpret_cast<Edge*>(uintptr_t{1}); }

// Reads the list. acquire: if the list is closed, the predecessor's effects are visible.
inline Edge* successors_of(const Task* predecessor) { return predecessor->successors.load(acquire); }

// `head`: the list as successors_of read it, not closed. False: `predecessor` has completed in between; the edge was
// not added, and the caller does not count it.
[[nodiscard]] inline bool transition_to_waiting_on(Task* predecessor, Edge* edge, Edge* head) {
  do {
    if (head == closed_list()) return false;
    edge->next = head;
    // release: the completion sees the edge and the successor. acquire: as in successors_of, if the list has been
    // closed meanwhile.
  } while (!predecessor->successors.compare_exchange_weak(head, edge, release, acquire));
  return true;
}

// Called by the completion. Returns all edges, newest first.
[[nodiscard]] inline Edge* transition_to_closed(Task* task) {
  // acquire pairs with the producer's release; release with the load of a producer that finds the list closed.
  return task->successors.exchange(closed_list(), acq_rel);
}

// Counts one predecessor down. True: it was the last.
inline bool count_down(Task* successor) {
  // acq_rel: releases the predecessor's effects; the thread that makes the successor ready acquires the effects of all
  // predecessors.
  return successor->predecessors.fetch_sub(1, acq_rel) == 1;
}

inline bool has_completed(const Task* task) { return successors_of(task) == closed_list(); }

}  // namespace marline
