// SPDX-License-Identifier: Apache-2.0
//
// Runs a target region on a device with a data environment of this library: copies the data to the device, runs the
// kernel, and copies the data back.
#pragma once

#include "items/items.hpp"
#include "base/reported_construct.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/device.hpp"
#include "data/arguments.hpp"

namespace marline::offload::registry {

using namespace data;
using namespace device;
using namespace items;

struct Region : PlacedInvocation {
  Items items = {};
  bool nowait = false;           // the calling task's body ends with this call, and the arrays of `items` are gone then
  unsigned teams = 0;            // as in Launch
  ReportScope* scope = nullptr;  // the construct's scope; items.reported is its record
  // The claimed task of the region; null: the calling task, if it is the region's.
  const marline_claimed_t* task = nullptr;
};

// The region of a task that was claimed at its creation; `scope` is not set.
[[nodiscard]] Region region_of(const CapturedTask& task);

// Whether the device, which is ready, has the kernel. If not, the kernel's module has no image for this device. May
// suspend.
[[nodiscard]] bool has_kernel(Device* device, const Entry* kernel);

// make_region_arguments makes the arguments of the kernel. The caller has mapped the region's data to the device. It
// may suspend, as it copies private data and argument arrays to the device. It does not suspend if `to.later` is set
// (then the caller makes the copies of private data) and the device asks for spans (Device::asks_for_spans; then the
// arguments go with the launch). launch_of makes the launch, which refers to `arguments` and to the region's arrays.
void make_region_arguments(Device* device, const Region& region, Arguments& to);
[[nodiscard]] Launch launch_of(const Device* device, const Region& region, Arguments& arguments);

// Runs the region on a device that has the kernel. When this returns, the region has run, or, with `nowait`, it goes on
// and holds the calling task. May suspend.
void run_region(Device* device, const Region& region);

}  // namespace marline::offload::registry
