// SPDX-License-Identifier: Apache-2.0
//
// Finds the devices for code of GCC: a table of functions that libmarline-target registers (devices.h). If
// MARLINE_DEVICES names devices, the library is loaded at the first question about devices. Any thread.
#pragma once

#include "marline/devices.h"

namespace marline {

struct Task;

// Null: the program has no devices for code of GCC. The first call loads the library.
[[nodiscard]] const marline_device_provider_t* device_provider();

// False: another table is registered already, or this one is too short.
[[nodiscard]] bool provide_devices(const marline_device_provider_t* provider);

// Loads the library if MARLINE_DEVICES asks for it. True: this call has loaded it.
bool load_devices();

// Keeps the open target data constructs of each task. GCC's call at the end of a target data construct does not name
// the construct: the task's innermost one ends. `data` is the provider's value, or null.
void push_target_data(const Task* task, void* data);
[[nodiscard]] void* pop_target_data(const Task* task);

}  // namespace marline
