// SPDX-License-Identifier: Apache-2.0
//
// Reads the stack of a thread that has crashed in a target region, in the handler of the signal. The C library's
// backtrace() uses libgcc's unwinder, which it loads at its first call. That call is made early, as a loader must not
// run in a handler. Later calls take no lock and allocate nothing (glibc 2.35 and later; older versions lock the
// loader's list of modules). The stack may be damaged: a fault while it is read ends the reading, and a timer kills the
// process if the reading does not come to an end.
#pragma once

#include <cstddef>

namespace marline::offload::device {

// Called once, before the first kernel.
void prepare_crash_stack();

// Called in a signal handler, by the one thread that ends the process: writes the region's frames as text, the
// innermost one first, " < " between them; "" if there are none. `context`: the handler's third argument.
void read_crash_stack(const void* context, char* to, size_t bytes);

// Called first in a handler of SIGSEGV or SIGBUS: does not return if the fault comes from this thread's reading.
void leave_crash_stack();

}  // namespace marline::offload::device
