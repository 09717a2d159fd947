// SPDX-License-Identifier: Apache-2.0
//
// How long recorded threads were ready to run and had no core, because other threads ran there: the kernel counts it
// for each thread (/proc/self/task/TID/schedstat, second number). Without these figures a report would take the load of
// other programs for a fault of this one. Any thread may call; one lock.
#ifndef MARLINE_TRACE_CORE_WAITS_HPP
#define MARLINE_TRACE_CORE_WAITS_HPP

#include <stdint.h>

namespace marline::trace {

// The calling thread begins, or ends, to be recorded.
void begin_core_waits();
void end_core_waits();

// Counts from now on only: the program has begun (MPI_Init has ended).
void restart_core_waits();

// Counts no further: the program ends (MPI_Finalize begins).
void stop_core_waits();

// Nanoseconds, the sum over all threads; 0 where the kernel does not count.
uint64_t core_waits();

}  // namespace marline::trace

#endif
