// SPDX-License-Identifier: Apache-2.0
//
// Captures a target task when it is created (marline_target_observer_t::created in devices.h). Any thread.
#pragma once

#include "device/contract/capture.hpp"

namespace marline::offload::submission {

using namespace device;

// Describes what the task will do, in one block of memory that free_captured frees. Null: this is known only when the
// task runs. For Clang's code, calls the task's entry, which is compiled code of the program.
[[nodiscard]] CapturedTask* capture_task(const marline_target_task_t& task);

// Implements marline_target_observer_t::reduces. The runtime calls it when a task's entry that capture_task runs asks
// for its copy of a reduction variable.
void record_reduction(const marline_reduction_t* reduction);

}  // namespace marline::offload::submission
