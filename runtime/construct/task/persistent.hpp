// SPDX-License-Identifier: Apache-2.0
//
// Persistent task graphs: the tasks that one task (the producer) creates again and again are recorded once, and
// re-armed from then on. See docs/design/persistent-graphs.md. Everything here runs on the producer's thread;
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

// Begins the next iteration. False: it has been replayed, its body is to be skipped (kReplay only).
[[nodiscard]] bool graph_iterate(PersistentGraph* graph);

// Waits for all tasks of the graph and frees it.
void graph_end(PersistentGraph* graph);

// For a graph that outlives its producers (taskgraph), each of which takes part for one iteration: makes the current
// task the producer, behind those of its earlier tasks that the recorded ones depend on, to be followed by
// graph_iterate; and waits for the iteration, after which the task is none any more.
void graph_enter(PersistentGraph* graph, Worker* worker);
void graph_leave(PersistentGraph* graph);

void graph_invalidate(PersistentGraph* graph);
void graph_drop_task(PersistentGraph* graph);

// What the constructs of a producer do in place of allocating, and of enter_graph and enter_wait. `shape` is changed.
Task* allocate_persistent(Worker* worker, TaskShape& shape);
[[nodiscard]] bool enter_persistent(Worker* worker, Task* task, const Dependence* list, size_t count);
[[nodiscard]] bool enter_persistent_wait(Worker* worker, const Dependence* list, size_t count, Event* event,
                                         uint64_t tool_data);

// Target tasks that have an observer (construct/task/observed.hpp), in place of the above. Whether it is to be asked:
// not of a task that exclusions or passed priorities order, nor, in a replay, of one behind tasks that it has not
// claimed. A target task that is about to be created, of a producer with kInGraph. True: the observer does the whole
// iteration and has seen the task, which is not created.
[[nodiscard]] bool renew_persistent(Worker* worker, Task* task, const Dependence* list, size_t count,
                                    const void* codeptr);

// The current task is about to do something that the observer's regions of such an iteration must not be beside: waits
// for those that it has seen, and goes on without it.
void leave_renewed_iteration(Worker* worker);

[[nodiscard]] bool persistent_may_claim(Worker* worker, Task* task, const Dependence* list, size_t count);
// The number of the told iteration of which the next task is, and its step there; 0: it is of none.
[[nodiscard]] uint64_t persistent_place(const Task* producer, uint64_t& step);
// It has been claimed. False: it is entered like other claimed tasks.
[[nodiscard]] bool enter_persistent_claimed(Task* task, const Dependence* list, size_t count);

// The producer waits, or runs a task in place: a replay without the producer's code does the first again, and cannot do
// the second.
void persistent_note_wait(Task* producer, NodeKind kind);
void persistent_note_undeferred(Task* producer);

}  // namespace marline
