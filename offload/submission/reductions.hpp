// SPDX-License-Identifier: Apache-2.0
//
// Variables of task reductions (OpenMP 5.2, section 5.5.9) in target tasks that are sent ahead, of Clang's code: on the
// device each region has a copy that no other region has at that time, and what regions have added is combined there,
// before it comes home. One piece of the device's memory stands for all these copies, and for the host's memory that
// the runtime has for them (marline_reduction_t). It has the reduction's initial value, which regions only read.
#pragma once

#include "base/array.hpp"
#include "cluster/base/list.hpp"
#include "device/contract/capture.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;

// Makes the items of the region that name one of these variables name what stands for its copies. False: the region
// uses a variable in a way that is not known. By the task's creator.
[[nodiscard]] bool name_reductions(const List<marline_reduction_t>& reductions, CapturedTask& task);

// By the one thread that hands tasks over, before the task's maps are looked at: the device has the initial values, or
// gets them by operations `behind` which the region comes. False: the region is to work on the variable itself, which
// is mapped, or there is no memory.
[[nodiscard]] bool bring_reductions(const CapturedTask& task, Device* device, List<uint64_t>& behind);

// The task's arguments that point into them.
void list_reduced(const CapturedTask& task, Array<ReducedArgument, 4>& to);

// As CaptureSink has it.
[[nodiscard]] bool reduced(void* copy);

// In a fork's child.
void forget_reductions();

}  // namespace marline::offload::submission
