// SPDX-License-Identifier: Apache-2.0
//
// Target regions of Clang's code that take part in a task reduction (OpenMP 5.2, section 5.5.10). Clang 16 to 22 asks
// for the thread's copy of the variable, but what it maps, or passes to the region on the host, is the variable itself.
// So two such regions at a time would each take the other's part away. They exclude each other instead: the variable
// gets what they add, and at the group's end what is in the copies, which other tasks have. One lock for the process:
// with such code no two of these regions can run at the same time, whatever they reduce. While a task has it, it runs
// its region and nothing else; a region on the host that waits there for a lock of the program's waits with it.
#pragma once

#include "task/task.hpp"

namespace marline {

// By the region's task, which has been pinned: waits until no other such region runs. Nothing, if it has the lock. May
// suspend.
void reducing_region_begin();

// On the same thread, when the region or its task has ended. Nothing, if the task does not have the lock.
void reducing_region_release(const Task* task);
inline void reducing_region_end(const Task* task) {
  if (task->has(task_flag::kPinned)) [[unlikely]] {
    reducing_region_release(task);
  }
}

}  // namespace marline
