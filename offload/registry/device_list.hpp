// SPDX-License-Identifier: Apache-2.0
//
// Makes the list of the program's devices: the devices that MARLINE_DEVICES names, selected and ordered by
// OMP_AVAILABLE_DEVICES. Called by one thread, once.
#pragma once

#include "base/device_set.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::registry {

using namespace device;

struct Candidate {
  const DeviceKind* kind;
  int index;  // number among the devices of its kind, as the kind counts them
  DeviceFacts facts;
};

// Writes the devices to `devices`, and returns how many there are. Ends the program for values that cannot be used.
[[nodiscard]] int list_devices(Candidate (&devices)[kMostDevices]);

// What MARLINE_DEVICES names, before the list is made.
struct NamedKinds {
  bool nodes = false;  // devices of workers, also as a cluster
  bool cluster = false;
  bool processes = false;
};
[[nodiscard]] NamedKinds named_kinds();

// Makes the next list that of a program with code for every device of the machine.
void assume_code_for_all();

// The reason why libomptarget has no devices, in one line; empty if it has devices, or was not asked for any.
[[nodiscard]] const char* why_no_gpus();

}  // namespace marline::offload::registry
