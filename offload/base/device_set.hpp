// SPDX-License-Identifier: Apache-2.0
//
// How many devices a program can have, and sets of them by their numbers. No state.
#pragma once

#include <bitset>

namespace marline::offload {

// A program that needs more devices is refused with a message (registry/device_list.cpp,
// device/remote/program/remote_device.cpp). Tables by device have this size; image/device_words.hpp and
// device/processor/window.hpp say what a kernel or a window of addresses needs for each device.
inline constexpr int kMostDevices = 256;

using DeviceSet = std::bitset<kMostDevices>;

}  // namespace marline::offload
