// SPDX-License-Identifier: Apache-2.0
//
// What default-device-var stands for where OMP_DEFAULT_DEVICE leaves it to the library that has the devices: a list of
// traits, or no value at all. Any thread.
#pragma once

#include "task/icvs.hpp"

namespace marline {

// A number from 0 on, -1 for the host, -2 for none. `wish`: the variable's text; null if it is not given.
using ChooseDefaultDevice = int (*)(const char* wish);

// By the library with the devices, once, when it is loaded.
void set_default_device_chooser(ChooseDefaultDevice choose);

// Of these variables, and of the host while no library has devices: 0, which is the host's number then.
[[nodiscard]] int default_device_of(const Icvs& icvs);

}  // namespace marline
