// SPDX-License-Identifier: Apache-2.0
//
// Which devices the program has: those that MARLINE_DEVICES names, selected and ordered by OMP_AVAILABLE_DEVICES. One
// thread, once.
#pragma once

#include "base/device_set.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::registry {

using namespace device;

struct Candidate {
  const DeviceKind* kind;
  int index;  // among those of its kind, as it counts them
  DeviceFacts facts;
};

// Writes them to `devices`, and returns how many there are. Ends the program for values that cannot be used.
[[nodiscard]] int list_devices(Candidate (&devices)[kMostDevices]);

// The next list is that of a program with code for every device that there is.
void assume_code_for_all();

// Why libomptarget has no devices, in one line; empty if it has, or was not asked for any.
[[nodiscard]] const char* why_no_gpus();

}  // namespace marline::offload::registry
