// SPDX-License-Identifier: Apache-2.0
//
// Runs a target region on a device with a data environment of this library: copies the data to the device, runs the
// kernel, and copies the data back.
#pragma once

#include "items/items.hpp"
#include "base/told.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/device.hpp"
#include "data/data_environment.hpp"

namespace marline::offload::registry {

using namespace data;
using namespace device;
using namespace items;

struct Region {
  const Entry* kernel;
  Items items;
  int32_t thread_limit;  // 0: none
  bool leading_null;     // the kernel's first parameter is a pointer that is not used here (arguments of version 3)
  bool in_memory;        // code of GCC: the kernel's one argument is the address of an array of its words
  bool nowait;           // the calling task's body ends with this call, and the arrays of `items` are gone then
  const char* place;     // as in Launch
  unsigned teams;        // as in Launch
  int32_t passed_teams = -1;  // as in Launch
  uint64_t trip_count = 0;    // as in Launch
  GpuGrid grid = {};          // as in Launch
  int node = 0, number = -1;  // as in Launch
  ReportScope* scope;         // the construct's scope; items.told is its record
  // The claimed task of the region; null: the calling task, if it is the region's.
  const marline_claimed_t* task = nullptr;
};

// The region of a task that was claimed at its creation; `scope` is not set.
[[nodiscard]] Region region_of(const CapturedTask& task);

// Whether the device, which is ready, has the kernel. If not, the kernel's module has no image for this device. May
// suspend.
[[nodiscard]] bool has_kernel(Device* device, const Entry* kernel);

// make_region_arguments makes what the kernel gets; the region's data is on the device by then. It may suspend, unless
// `to` has Arguments::later and the device asks for spans. launch_of makes the launch, which uses `arguments` and the
// region's arrays.
void make_region_arguments(Device* device, const Region& region, Arguments& to);
[[nodiscard]] Launch launch_of(const Device* device, const Region& region, Arguments& arguments);

// Runs the region on a device that has the kernel. When this returns, the region has run, or, with `nowait`, it goes on
// and holds the calling task. May suspend.
void run_region(Device* device, const Region& region);

}  // namespace marline::offload::registry
