// SPDX-License-Identifier: Apache-2.0
//
// Offers to a library that observes target tasks (devices.h): it may claim a task (graph/claims.hpp), or a whole
// iteration of a persistent graph. Used by the creator's thread.
#pragma once

#include "construct/task/persistent_graph.hpp"
#include "graph/dependence.hpp"

namespace marline {

// The task is a child of the current one, and has kObserved. True: the observer has claimed it, and nothing is left to
// be done. False: it is an ordinary task.
[[nodiscard]] bool report_to_observer(Worker* worker, Task* task, const Dependence* list, size_t count,
                                      const void* codeptr);

// For target tasks with an observer, instead of enter_persistent. Called when a target task is about to
// be created by a producer with kInGraph. True: the observer runs the whole iteration and has been notified of the
// task, which is not created.
[[nodiscard]] bool renew_persistent(Worker* worker, Task* task, const Dependence* list, size_t count,
                                    const void* codeptr);

// The iteration's tasks have the same data as in the one before. True: the observer runs it as a whole.
[[nodiscard]] bool repeat_reported_iteration(PersistentGraph* graph);
// The producer's code runs, and its tasks may have other data. The observer may still run the iteration
// (renew_persistent).
void renew_reported_iteration(PersistentGraph* graph);

}  // namespace marline
