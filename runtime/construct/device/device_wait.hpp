// SPDX-License-Identifier: Apache-2.0
//
// Target tasks with work that LLVM's libomptarget runs on a device (docs/design/target-tasks.md). With `nowait`
// libomptarget starts the operations, stores a handle in the task and returns. Then the body has ended, but a hold
// keeps the task from completing until the operations have ended: a progress hook queries libomptarget, and no thread
// waits.
#pragma once

#include "task/task.hpp"

namespace marline {

// Whether libomptarget can be queried. `caller`: an address in the calling code, which is libomptarget's.
[[nodiscard]] bool can_poll_devices(const void* caller);

// Called when the body of `task`, the current one, has ended with a handle in Task::device_handle.
void wait_for_device(Task* task);

}  // namespace marline
