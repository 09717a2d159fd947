// SPDX-License-Identifier: Apache-2.0
//
// The `declare target` variables of GCC's code in a device's data environment. Any thread.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::registry {

using namespace device;

// Whether the device's data environment has the variables of all libraries that are loaded.
[[nodiscard]] bool knows_loaded_variables(const Device* device);

// Maps the variables of all loaded libraries, and unmaps those of libraries that have been closed. The device has been
// prepared, and has DeviceKind::locate. May suspend.
void map_loaded_variables(Device* device);

}  // namespace marline::offload::registry
