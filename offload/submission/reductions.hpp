// SPDX-License-Identifier: Apache-2.0
//
// Variables of task reductions (OpenMP 5.2, section 5.5.9) in early-submitted target tasks of Clang's code. On the
// device, each region works on a copy that no other region has at that time. The device combines the copies before the
// result is copied to the host. One block of the device's memory represents all these copies. It is the device's
// counterpart of the host memory that the runtime provides for the variable (marline_reduction_t), and has the
// reduction's initial value, which regions only read.
#pragma once

#include "base/list.hpp"
#include "device/contract/capture.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;

// Changes the region's items that name a reduction variable: they then name the memory that represents the variable's
// copies. False: the region uses a variable in a way that is not supported. Called by the task's creator.
[[nodiscard]] bool name_reductions(const List<marline_reduction_t>& reductions, CapturedTask& task);

// Starts the copies of the initial values to the device, unless earlier regions have started them, and adds the copies
// to `after`, the operations that the region is ordered after. False: the region must work on the variable itself,
// which is mapped for longer than the region, or the device has no memory. Called by the submitting thread before the
// task's maps are processed.
[[nodiscard]] bool bring_reductions(const CapturedTask& task, Device* device, List<uint64_t>& after);

// Lists the task's arguments that point into reduction variables.
void list_reduced(const CapturedTask& task, List<ReducedArgument, 4>& to);

// Implements marline_target_observer_t::reduced.
[[nodiscard]] int reduced(void* copy);

// Called in a fork's child.
void forget_reductions();

}  // namespace marline::offload::submission
