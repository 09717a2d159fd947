// SPDX-License-Identifier: Apache-2.0
//
// The events of a task's creation for tools (OpenMP 5.2, sections 19.5.2.6 to 19.5.2.8): the task, then its dependences
// in one call. Run by the thread that creates the task, before any other thread knows the task.
#pragma once

#include "graph/dependences.hpp"
#include "task/task.hpp"

#include <cstdint>

namespace marline {

// ompt_task_flag_t of the task; call it only while a tool is present. A target task that Clang's code runs in line has
// no kTarget: the code does not show that it is a target task.
int tool_flags(Task* task);

// Reports the dependences of a task that has been reported, if a tool asks for dependences.
void announce_dependences(uint64_t* task_data, const Dependence* list, size_t count);

}  // namespace marline
