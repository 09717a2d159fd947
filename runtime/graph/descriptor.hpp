// SPDX-License-Identifier: Apache-2.0
//
// The end of a task's descriptor in the graph.
#pragma once

#include "sched/team.hpp"

namespace marline {

// A descriptor in a table has two holders, its execution and the table; each function drops the reference of one of
// them, and the last one frees the descriptor. The descriptor of a persistent task stays until its graph calls
// free_persistent_task.
void release_task(Worker* worker, Task* task);
void free_persistent_task(Worker* worker, Task* task);
void release_task_from_table(Worker* worker, Task* task);

// Frees the edges of a task that has ended.
void drop_edges(Worker* worker, Task* task);

}  // namespace marline
