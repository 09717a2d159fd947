// SPDX-License-Identifier: Apache-2.0
//
// How many devices a program can have, and sets of them by their numbers. No state.
#pragma once

#include <bitset>

namespace marline::offload {

// One more is refused with a line (registry/device_list.cpp, device/remote/program/remote_device.cpp). Tables by device
// have this size; what a kernel or a window of addresses needs for each of them is in image/device_words.hpp and
// device/processor/window.hpp.
inline constexpr int kMostDevices = 256;

using DeviceSet = std::bitset<kMostDevices>;

}  // namespace marline::offload
