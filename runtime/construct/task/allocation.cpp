// SPDX-License-Identifier: Apache-2.0
//
// Allocates descriptors with all that options and calls before the construct add to them.
#include "construct/task/allocation.hpp"

#include "config/options.hpp"
#include "construct/task/next_task.hpp"
#include "exec/worker/frames.hpp"
#include "graph/lineage.hpp"
#include "graph/profile.hpp"

namespace marline {

namespace {

void begin_tail(Task* task, const TaskShape& shape) {
  ToolTail* tail = tool_tail(task);
  *tail = {};
  tail->code = shape.code;
}

}  // namespace

Task* allocate_ordinary_task(Worker* worker, const TaskShape& shape) {
  size_t announced = worker->next_task != nullptr ? next_dependences(worker) : 0;
  Task* task = allocate_with_room(worker, shape, shape.dependences + announced, options().task_tail_bytes);
  if (tool::present()) begin_tail(task, shape);
  if (lineage_bytes() != 0) lineage_begin(task, profile_begin(shape.code, shape.block_bytes, shape.flags), false);
  return task;
}

void begin_another_life(Worker* worker, Task* task, const TaskShape& shape) {
  begin_life(worker, task, shape);
  if (tool::present()) begin_tail(task, shape);
}

}  // namespace marline
