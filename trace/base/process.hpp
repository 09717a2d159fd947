// SPDX-License-Identifier: Apache-2.0
//
// What recorder.cpp shares with rank.cpp: the content of the JSON file, its lock, and the state of recording.
#ifndef MARLINE_TRACE_PROCESS_HPP
#define MARLINE_TRACE_PROCESS_HPP

#include <pthread.h>

#include "base/metadata.hpp"

namespace marline::trace {

// kAggregating: the description will hold sums, and there are no records. kEnded: nothing is added to the trace any
// more. kDescribed: a rank that MARLINE_TRACE_RANKS leaves out,
// which has a description only. kNever: there is no trace, or it is the parent process's.
enum State { kIdle, kRecording, kAggregating, kEnded, kDescribed, kNever };
void store_state(State value);
// From kRecording or kAggregating to kEnded. False, and nothing has changed: the state was another. A process in kNever
// must stay there, because a description under its name is that of another trace, or of the process that it was forked
// from.
[[nodiscard]] bool transition_to_ended();

extern pthread_mutex_t process_lock;  // never taken to record an event
extern Metadata process;              // under process_lock
extern bool rank_known;               // under process_lock

// Whether the JSON file is there already; says so then.
bool trace_exists();

// Writes the JSON file, under process_lock, with what is known at the run's end only or without it (write_more). False
// after a line on stderr.
bool write_locked(bool with_more);

void switch_recording(bool off);

}  // namespace marline::trace

#endif
