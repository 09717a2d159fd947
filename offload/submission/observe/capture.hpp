// SPDX-License-Identifier: Apache-2.0
//
// Captures a target task when it is created (marline_target_observer_t::created in devices.h). Any thread.
#pragma once

#include "device/contract/capture.hpp"

namespace marline::offload::submission {

using namespace device;

// What the task will do, in one block (free_captured). Null: that is known only when the task runs. Calls the task's
// entry, which is compiled code of the program.
[[nodiscard]] CapturedTask* capture_task(const marline_target_task_t& task);

// marline_target_observer_t::reduces: called by the entry while capture_task runs it.
void record_reduction(const marline_reduction_t* reduction);

}  // namespace marline::offload::submission
