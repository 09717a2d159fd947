// SPDX-License-Identifier: Apache-2.0
//
// Target tasks of Clang's code, as the routines for libraries that run them see them (devices.h). Any thread.
#pragma once

#include "task/task.hpp"

namespace marline::kmp {

// The current task, if it is a target task that can be queued again while a device works for it; else null. Null, too,
// if its creator waits for it in any case.
Task* current_target_task();

// Whether `task` is a target task, deferred or not.
[[nodiscard]] bool is_target_task(const Task* task);

// Sets the word that libomptarget gets for its operations on this thread, instead of the task's own word. Null: the
// task's own.
void set_target_handle(void** handle);

}  // namespace marline::kmp
