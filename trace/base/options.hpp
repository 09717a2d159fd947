// SPDX-License-Identifier: Apache-2.0
//
// The environment variables for a recording, except its folder: read once, when recording starts.
#ifndef MARLINE_TRACE_OPTIONS_HPP
#define MARLINE_TRACE_OPTIONS_HPP

#include <stdint.h>
#include <stdio.h>

namespace marline::trace {

struct Options {
  unsigned events;  // MARLINE_TRACE_EVENTS=WORD,WORD...: bits of Events (kinds.hpp); default: all
  bool begin_off;   // MARLINE_TRACE_START=off: records from the first "on" that the program asks for
  uint64_t limit;   // MARLINE_TRACE_LIMIT=SIZE: bytes of records per process; 0: none
};

// Ends the program with exit code 2 if a value cannot be used: without its trace, the run would be in vain.
void read_options(Options& options);

// The words of MARLINE_TRACE_EVENTS that the bits stand for, as the inside of a JSON array.
void write_event_words(FILE* out, unsigned events);

}  // namespace marline::trace

#endif
