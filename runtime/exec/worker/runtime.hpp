// SPDX-License-Identifier: Apache-2.0
//
// The runtime's start and end in a process.
#pragma once

namespace marline {

struct Worker;

// Reads the options, prints them if asked, starts the tool. Once; later calls return at once. Any thread.
void runtime_start();

// Reads the options alone: changes of the environment after the program's first use of OpenMP have no effect. Also in a
// signal handler: if the interrupted thread, or another one, is just reading them, the caller goes on with the options
// as they are.
void settle_options();

// Reports the end of the threads to the tool, and finalizes it: when the process ends, or when the tool asks for it.
void finalize_tool(Worker* worker);

}  // namespace marline
