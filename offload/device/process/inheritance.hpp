// SPDX-License-Identifier: Apache-2.0
//
// What a device's process has of the program whose fork it is, and must not have: descriptors that others wait to see
// closed, output that the program is going to write itself, and signals that are meant for the program.
#pragma once

namespace marline::offload::device {

// In the program, before the fork: what is written so far comes before what regions write.
void flush_output();

// In the device's process, before it has other threads. Keeps these two descriptors, and the standard ones.
void give_up_heritage(int socket, int file);

}  // namespace marline::offload::device
