// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a device's memory that the program itself has asked for, so that freeing anything else is an error with
// a name. Any thread.
#pragma once

#include "device/device.hpp"

namespace marline::target {

void note_users_block(Device* device, uint64_t address, size_t bytes);
// Whether one begins there.
[[nodiscard]] bool is_users_block(Device* device, uint64_t address);
void forget_users_block(Device* device, uint64_t address);

}  // namespace marline::target
