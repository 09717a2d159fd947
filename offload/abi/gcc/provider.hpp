// SPDX-License-Identifier: Apache-2.0
//
// What other files need from the devices for code of GCC (provider.cpp). Any thread.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::abi {

using namespace device;

// Whether the device's data environment has the `declare target` variables of all libraries that are loaded.
[[nodiscard]] bool knows_loaded_variables(const Device* device);

}  // namespace marline::offload::abi
