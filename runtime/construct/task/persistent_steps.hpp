// SPDX-License-Identifier: Apache-2.0
//
// What the constructs of a producer of a persistent graph do: each is a step of the record.
#pragma once

#include "construct/task/persistent_graph.hpp"

namespace marline {

// A producer's constructs call these instead of allocating, enter_graph and enter_wait. `shape` is changed.
Task* allocate_persistent(Worker* worker, TaskShape& shape);
[[nodiscard]] bool enter_persistent(Worker* worker, Task* task, const Dependence* list, size_t count);
[[nodiscard]] bool enter_persistent_wait(Worker* worker, const Dependence* list, size_t count, Event* event,
                                         uint64_t tool_data);

// Called when the producer waits, or runs a task in place. A replay without the producer's code repeats the wait, and
// cannot repeat the task.
void persistent_note_wait(Task* producer, NodeKind kind);
void persistent_note_undeferred(Task* producer);

// The current task is about to do something that must not overlap with the observer's regions of such an iteration:
// waits for the regions of which the observer has been notified, and continues without the observer.
void leave_renewed_iteration(Worker* worker);

// The step of the producer's next construct; null: there is none.
GraphStep* next_step(Worker* worker, PersistentGraph* graph);
// The producer's construct differs from the recorded step.
void go_on_unrecorded(Worker* worker, PersistentGraph* graph);
// Makes a descriptor that the graph has given out before that an ordinary task.
void make_ordinary(Worker* worker, PersistentGraph* graph, Task* task);
// Records the next step of an iteration.
void record_task(PersistentGraph* graph, Task* task, const Dependence* list, size_t count);

// For construct/task/persistent.cpp.
bool same_shape(const TaskShape& a, const TaskShape& b);
void wait_for_iteration(PersistentGraph* graph, int instance);
// Begins the next run of a recorded task.
void begin_replay_of(Worker* worker, Task* task, const TaskShape& shape);

}  // namespace marline
