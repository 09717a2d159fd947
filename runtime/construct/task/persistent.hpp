// SPDX-License-Identifier: Apache-2.0
//
// Persistent task graphs: the tasks that one task (the producer) creates repeatedly are recorded once, and re-armed
// from then on. See docs/design/persistent-graphs.md. All functions here run on the producer's thread;
// graph/recorded_graph.hpp has the functions that other threads use.
//
// A graph belongs to the current task of graph_begin. From the first graph_iterate to graph_end that task has
// task_flag::kInGraph, and its dependence table is the graph's: the constructs ask the functions at the end of this
// file.
#pragma once

#include "construct/task/task.hpp"
#include "graph/recorded_graph.hpp"

namespace marline {

struct PersistentGraph;

enum class GraphMode : int { kBarrier, kNowait, kReplay };

PersistentGraph* graph_begin(Worker* worker, GraphMode mode);

// Begins the next iteration. False: it has been replayed, and its body must be skipped (kReplay only).
[[nodiscard]] bool graph_iterate(PersistentGraph* graph);

// Waits for all tasks of the graph and frees it.
void graph_end(PersistentGraph* graph);

// For a graph that outlives its producers (taskgraph); each producer runs one iteration. graph_enter makes the current
// task the producer, and waits for its earlier tasks on which recorded tasks depend; graph_iterate must follow.
// graph_leave waits for the iteration; after it the task is no longer the producer.
void graph_enter(PersistentGraph* graph, Worker* worker);
void graph_leave(PersistentGraph* graph);

void graph_invalidate(PersistentGraph* graph);
void graph_drop_task(PersistentGraph* graph);

// A producer's constructs call these instead of allocating, enter_graph and enter_wait. `shape` is changed.
Task* allocate_persistent(Worker* worker, TaskShape& shape);
[[nodiscard]] bool enter_persistent(Worker* worker, Task* task, const Dependence* list, size_t count);
[[nodiscard]] bool enter_persistent_wait(Worker* worker, const Dependence* list, size_t count, Event* event,
                                         uint64_t tool_data);

// For target tasks with an observer (construct/task/observed.hpp), instead of the functions above. Called when a target
// task is about to be created by a producer with kInGraph. True: the observer runs the whole iteration and has been
// notified of the task, which is not created.
[[nodiscard]] bool renew_persistent(Worker* worker, Task* task, const Dependence* list, size_t count,
                                    const void* codeptr);

// The current task is about to do something that must not overlap with the observer's regions of such an iteration:
// waits for the regions of which the observer has been notified, and continues without the observer.
void leave_renewed_iteration(Worker* worker);

// Whether to offer the task to the observer. Not if exclusions or propagated priorities order the task, nor, in a
// replay, if it has a predecessor that the observer has not claimed.
[[nodiscard]] bool persistent_may_claim(Worker* worker, Task* task, const Dependence* list, size_t count);
// The number of the reported graph to which the producer's next task belongs, and the task's step there; 0: there is
// none.
[[nodiscard]] uint64_t persistent_place(const Task* producer, uint64_t& step);
// The task has been claimed. False: the caller must enter it like other claimed tasks.
[[nodiscard]] bool enter_persistent_claimed(Task* task, const Dependence* list, size_t count);

// Called when the producer waits, or runs a task in place. A replay without the producer's code repeats the wait, and
// cannot repeat the task.
void persistent_note_wait(Task* producer, NodeKind kind);
void persistent_note_undeferred(Task* producer);

}  // namespace marline
