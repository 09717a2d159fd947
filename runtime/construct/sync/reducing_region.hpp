// SPDX-License-Identifier: Apache-2.0
//
// Target regions of Clang's code that take part in a task reduction (OpenMP 5.2, section 5.5.10). Clang 16 to 22 asks
// for the thread's copy of the variable, but it maps the variable itself, or passes it to the region on the host. Two
// such regions at a time would overwrite each other's results. So they exclude each other: the variable gets their
// results and, at the group's end, the values of the copies that other tasks have. There is one lock for the process:
// with such code no two of these regions can run at the same time, whatever they reduce. While a task has the lock, its
// thread runs only its region; if a region on the host waits for a lock of the program, the thread waits with it.
#pragma once

#include "task/task.hpp"

namespace marline {

// Called by the region's task, which has been pinned: waits until no other such region runs. Does nothing if the task
// has the lock. May suspend.
void reducing_region_begin();

// Called on the same thread, when the region or its task has ended. Does nothing if the task does not have the lock.
void reducing_region_release(const Task* task);
inline void reducing_region_end(const Task* task) {
  if (task->has(task_flag::kPinned)) [[unlikely]] {
    reducing_region_release(task);
  }
}

}  // namespace marline
