// SPDX-License-Identifier: Apache-2.0
//
// The device number for default-device-var if OMP_DEFAULT_DEVICE leaves the choice to the library that has the devices:
// the variable is a list of traits, or is not set. Any thread.
#pragma once

#include "task/icvs.hpp"

namespace marline {

// Returns a device number from 0 on, -1 for the host, -2 for none. `wish`: the environment variable's text; null: it is
// not set.
using ChooseDefaultDevice = int (*)(const char* wish);

// Called once by the library with the devices, when it is loaded.
void set_default_device_chooser(ChooseDefaultDevice choose);

// The default device by these variables. While no library has devices, 0, which is then the host's number.
[[nodiscard]] int default_device_of(const Icvs& icvs);

}  // namespace marline
