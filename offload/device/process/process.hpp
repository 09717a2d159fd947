// SPDX-License-Identifier: Apache-2.0
//
// The two sides of a device that is a process: the program's (process.cpp) and the process's own (serve.cpp).
#pragma once

#include "device/contract/device.hpp"
#include "device/process/channel.hpp"
#include "device/processor/arena.hpp"

namespace marline::offload::device {

// Serves commands until the program ends or closes the other end of `socket`. `number`: what omp_get_device_num returns
// in kernels.
[[noreturn]] void serve_device(Channel* channel, Arena* arena, int socket, int number);

// In a fork of the program, also in one that becomes another device: none of the processes is a device of its own.
void forget_processes();

// Ends such a fork with a line if the device is one of these.
void refuse_if_lost(const Device* device);

}  // namespace marline::offload::device
