// SPDX-License-Identifier: Apache-2.0
//
// Target tasks that a library has claimed (devices.h), in the graph. For its successors a claimed task is a task like
// any other. Its predecessors are of two kinds. The library knows when claimed predecessors end. All other predecessors
// have an edge to one node without a body, and the node has an edge to the task: when the node is reached, the library
// is notified that the predecessors that are not claimed have ended. When the last predecessor has ended, the library
// is notified that the task is ready; the task is not queued.
//
// Invariant: until release_claim, `predecessors` of the task and of the node count one more, for the creator. So the
// library learns which predecessors the task has before it is notified that any of them has ended.
#pragma once

#include "graph/linking.hpp"

namespace marline {

// Called when the library knows the predecessors of the task, which has been entered. Notifies the library if they have
// ended.
void release_claim(Worker* worker, Task* task, const Claiming& claiming);

// Notifies the library that a task that it has left to the runtime ends. The task's edges have not been released yet.
void report_left_ended(const Task* task);

// For graph/dependences.cpp. end_claimed_linking replaces end_linking. pass_claimed is called when the last predecessor
// of a claimed task, or of the node before such a task, has ended. If the task is reached because its node was, the
// task is appended to `nodes`.
void end_claimed_linking(Linking& linking);
void pass_claimed(Worker* worker, Task* node, TaskFifo& nodes);

}  // namespace marline
