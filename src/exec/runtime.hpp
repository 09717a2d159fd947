// SPDX-License-Identifier: Apache-2.0
//
// The runtime's start and end in a process.
#pragma once

namespace marline {

// Reads the options, prints them if asked, starts the tool. Once; later calls return at once. Any thread.
void runtime_start();

}  // namespace marline
