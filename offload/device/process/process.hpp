// SPDX-License-Identifier: Apache-2.0
//
// The two sides of a device that is a process: the program's side (process.cpp) and the device's own (serve.cpp).
#pragma once

#include "device/contract/device.hpp"
#include "device/process/channel.hpp"
#include "device/processor/arena.hpp"

namespace marline::offload::device {

// Serves commands until the program ends or closes the other end of `socket`. `number`: what omp_get_device_num returns
// in kernels.
[[noreturn]] void serve_device(Channel* channel, Arena* arena, int socket, int number);

// Called in a forked child of the program, also in one that becomes another device: the processes that the program has
// started are not the child's devices.
void forget_processes();

// Ends such a child with a message if the device belongs to the program.
void refuse_if_lost(const Device* device);

}  // namespace marline::offload::device
