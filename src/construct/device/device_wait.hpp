// SPDX-License-Identifier: Apache-2.0
//
// Target tasks that LLVM's libomptarget has work for on a device (docs/design/target-tasks.md). With `nowait` libomptarget
// starts the operations, leaves a handle in the task and returns. The body has ended then, but the task holds on to
// itself until the operations have: a progress hook asks libomptarget, and no thread waits.
#pragma once

#include "task/task.hpp"

namespace marline {

// Whether libomptarget can be asked. `caller`: an address in the code that wants to know, libomptarget's own.
[[nodiscard]] bool can_poll_devices(const void* caller);

// The body of `task`, the current one, has ended with a handle in Task::device_handle.
void wait_for_device(Task* task);

}  // namespace marline
