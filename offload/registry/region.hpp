// SPDX-License-Identifier: Apache-2.0
//
// A target region on a device whose data environment is ours: data there, kernel, data back.
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
  bool leading_null;     // the kernel's first parameter is a pointer that nothing uses here (arguments of version 3)
  bool in_memory;        // GCC's: the kernel's one argument is the address of an array of its words
  bool nowait;           // the calling task's body ends with this call, and its arrays go with it
  const char* place;     // as in Launch
  unsigned teams;        // likewise
  int32_t passed_teams = -1;                // likewise
  uint64_t trip_count = 0;                  // likewise
  GpuGrid grid = {};                        // likewise
  int node = 0, number = -1;                // likewise
  ToldScope* scope;                         // the construct's; items.told is its
  const marline_claimed_t* task = nullptr;  // that was claimed; null: the calling task, if it is the region's
};

// Of a task that was taken at its creation, without `scope`.
[[nodiscard]] Region region_of(const CapturedTask& task);

// Whether the device, which is ready, has the kernel: else its module has no image for this device. May suspend.
[[nodiscard]] bool has_kernel(Device* device, const Entry* kernel);

// What the kernel gets, and the launch of it, which uses `to` and the region's arrays. Their data is on the device. May
// suspend, unless there is Arguments::later and the device asks for spans.
void make_region_arguments(Device* device, const Region& region, Arguments& to);
[[nodiscard]] Launch launch_of(const Device* device, const Region& region, Arguments& arguments);

// On a device that has the kernel. The region has run at the return, or, with `nowait`, goes on and holds the calling
// task. May suspend.
void run_region(Device* device, const Region& region);

}  // namespace marline::offload::registry
