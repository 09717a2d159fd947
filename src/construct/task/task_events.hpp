// SPDX-License-Identifier: Apache-2.0
//
// What tools hear of a task's creation (OpenMP 5.2, sections 19.5.2.6 to 19.5.2.8): the task, then its dependences in
// one call. The thread that creates it, before anybody else can know the task.
#pragma once

#include "graph/dependences.hpp"
#include "task/task.hpp"

#include <cstdint>

namespace marline {

int tool_flags(const Task* task);  // ompt_task_flag_t

// The dependences of a task that has been announced, if a tool wants them.
void announce_dependences(uint64_t* task_data, const Dependence* list, size_t count);

}  // namespace marline
