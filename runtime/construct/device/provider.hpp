// SPDX-License-Identifier: Apache-2.0
//
// Where code of GCC finds devices: a table of functions that libmarline-target registers (devices.h). The library is
// loaded when MARLINE_DEVICES names devices, and then at the first question about them. Any thread.
#pragma once

#include "marline/devices.h"

namespace marline {

struct Task;

// Null: the program has no devices for code of GCC. Loads the library at the first call.
[[nodiscard]] const marline_device_provider_t* device_provider();

// False: there is another table already, or this one is too short.
[[nodiscard]] bool provide_devices(const marline_device_provider_t* provider);

// Loads the library, if MARLINE_DEVICES asks for it. True: it has been loaded during this call.
bool load_devices();

// GCC's end of a target data construct says nothing of its begin: the task's innermost one is meant. `data` is what
// the provider gave, or null.
void push_target_data(const Task* task, void* data);
[[nodiscard]] void* pop_target_data(const Task* task);

}  // namespace marline
