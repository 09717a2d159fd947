// SPDX-License-Identifier: Apache-2.0
//
// Removes what a device's process inherits by the fork from the program but must not keep: descriptors that other
// processes wait to see closed, buffered output that the program will write itself, and signals that are meant for the
// program.
#pragma once

namespace marline::offload::device {

// Called in the program before the fork, so that its output up to now appears before the output of target regions.
void flush_output();

// Called in the device's process before it has other threads. Keeps the descriptors `socket` and `file`, and the
// standard ones.
void close_inherited(int socket, int file);

}  // namespace marline::offload::device
