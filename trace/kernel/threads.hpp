// SPDX-License-Identifier: Apache-2.0
//
// What the kernel knows of each recorded thread: its page faults, and the CPU and NUMA node on which it ran last. Any
// thread may call; one lock.
#ifndef MARLINE_TRACE_THREADS_HPP
#define MARLINE_TRACE_THREADS_HPP

#include <stdio.h>

namespace marline::trace {

// The calling thread begins to be recorded as thread `number`, and ends.
void begin_thread(unsigned number);
void end_thread();

// All recorded threads so far, as a member of a JSON object: `"threads": [...],`. Page faults count from the thread's
// first event on.
void write_threads(FILE* out);

}  // namespace marline::trace

#endif
