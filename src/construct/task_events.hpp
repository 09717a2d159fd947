// SPDX-License-Identifier: Apache-2.0
//
// What tools hear of a task's creation (OpenMP 5.2, sections 19.5.2.6 to 19.5.2.8): the task, then its dependences in one
// call. The thread that creates it, before anybody else can know the task.
#pragma once

#include "graph/dependences.hpp"
#include "task/task.hpp"

#include <cstdint>

namespace marline {

int tool_flags(const Task* task);  // ompt_task_flag_t

struct CreatedTask {
  uint64_t* parent_data;
  uint64_t* data;
  int flags;
  const char* label;
  uint32_t color;
};

void announce_creation(const CreatedTask& task, const Dependence* list, size_t count, const void* codeptr);

}  // namespace marline
