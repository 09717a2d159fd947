// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_TRACE_SIGNAL: at that signal, `marline ps --trace` copies the ring of this process while it goes on. The
// handler only wakes a thread, which starts the command; without this option there is neither.
#ifndef MARLINE_TRACE_SIGNAL_ON_SIGNAL_HPP
#define MARLINE_TRACE_SIGNAL_ON_SIGNAL_HPP

namespace marline::trace {

// Does what the option says, if it is set. Copies go into DIR.signal1, then DIR.signal2, ..., beside the trace DIR.
// A process without a ring, such as a rank that is left out, ignores the signal, which a job gets as a whole. Ends the
// program with a line if something else handles the signal already. Called whenever recording may have started; does
// nothing once it has begun.
void copy_ring_on_signal();

}  // namespace marline::trace

#endif
