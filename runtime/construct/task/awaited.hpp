// SPDX-License-Identifier: Apache-2.0
//
// Waiting for tasks: for children, and for the members of a taskgroup.
#pragma once

#include "exec/worker/announce.hpp"

namespace marline {

// Waits for the current task's children. It has some.
void wait_for_children(Task* task);

// Waits for the group's members.
void wait_for_group(Task* task, Taskgroup* group);

// For tools: the current task will be suspended.
inline void announce_wait(ompt::State state) {
  if (tool::present()) [[unlikely]] {
    begin_wait(this_worker(), state, nullptr);
  }
}

// A group in the caller's memory, and the wait for its members.
void taskgroup_init(Taskgroup* group, Task* owner, Taskgroup* outer, bool is_construct);
void taskgroup_wait(Task* owner, Taskgroup* group);

}  // namespace marline
