// SPDX-License-Identifier: Apache-2.0
//
// Counters of each thread, by PAPI (MARLINE_TRACE_COUNTERS): read where a thread goes from one task to another, so that
// what each kind of task costs can be told apart (R. Pereira, thesis, 2023, 4.2.1). An event set belongs to its thread,
// which alone reads it. Whether anything is counted is constant once recording has started; if not, nothing here runs.
#ifndef MARLINE_TRACE_COUNTERS_HPP
#define MARLINE_TRACE_COUNTERS_HPP

#include "file/record.hpp"

namespace marline::trace {

class Stream;

// If the user wants counters, finds PAPI and checks that it can count them together. Ends the program with one line if
// it cannot: without its counters, the run would be in vain. Called once, before threads count.
void open_counters();

// Whether threads count.
bool counting();

// Writes the values of the calling thread's counters: what they have grown by since its last values belongs to `task`.
// The first time, the thread begins to count, and writes the counters' names.
void record_counters(Stream& stream, u64 task);

}  // namespace marline::trace

#endif
