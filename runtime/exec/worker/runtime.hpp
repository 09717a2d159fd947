// SPDX-License-Identifier: Apache-2.0
//
// The runtime's start and end in a process.
#pragma once

namespace marline {

struct Worker;

// Reads the options, prints them if asked, starts the tool. Once; later calls return at once. Any thread.
void runtime_start();

// Reads the options alone: what the program sets in the environment after its first use of OpenMP does not count. Also
// in a signal handler: if the interrupted thread, or another one, is just reading them, the caller goes on with the
// options as they are.
void settle_options();

// Tells the tool of the end of the threads, and ends it: where the process does, or where the tool asks for it.
void finalize_tool(Worker* worker);

}  // namespace marline
