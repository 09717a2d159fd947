// SPDX-License-Identifier: Apache-2.0
//
// Target tasks that a library has claimed (devices.h), in the graph. A claimed task is like any other to its
// successors. Of its predecessors it tells apart those that are claimed, too: the library knows when they end. All
// others lead to one node without a body, which stands before the task; when the node is reached, the library hears
// that they have ended. When the last predecessor has ended, the library hears that the task is ready, and nothing is
// queued.
//
// Invariant: from its entry on, `predecessors` of the task has one more for its creator, and so has the node's, until
// release_claim. So the library hears of the predecessors before it hears of any end.
#pragma once

#include "base/small_array.hpp"
#include "graph/dependences.hpp"
#include "graph/linking.hpp"

namespace marline {

// What stands before a claimed task, while its creator finds out. On the creator's stack.
struct Claiming {
  Task* node = nullptr;  // behind the predecessors that are not claimed; null: none was met
  int32_t others = 0;    // those
  SmallArray<uint64_t> numbers{"predecessors of a target task"};  // of claimed ones
};

// In place of enter_graph. The task cannot run before release_claim.
void enter_graph_claimed(Worker* worker, Task* task, const Dependence* list, size_t count, Claiming& claiming);

// The library knows what stands before the task, which has been entered. Calls the library, if that has ended.
void release_claim(Worker* worker, Task* task, const Claiming& claiming);

// For a task that the library has left to the runtime: it ends, and its edges have not been released yet.
void tell_left_ended(const Task* task);

// Of a task that others may stand behind: whether it has been claimed, and so has a number.
inline bool is_of_claimed(const Task* task) { return (task->inline_edges & Task::kOfClaimed) != 0; }

// For graph/linking.cpp: adds the edge. False: the predecessor has completed meanwhile.
[[nodiscard]] bool push_edge_to_claimed(Linking& linking, Task* predecessor, Edge* edge, Edge* head);

// For graph/dependences.cpp: in place of end_linking; and a claimed task, or the node before one, has been reached.
// What is reached thereby joins `nodes`.
void end_claimed_linking(Linking& linking);
void pass_claimed(Worker* worker, Task* node, TaskFifo& nodes);

}  // namespace marline
