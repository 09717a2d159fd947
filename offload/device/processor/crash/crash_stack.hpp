// SPDX-License-Identifier: Apache-2.0
//
// The stack of a thread that has crashed in a target region, read by the handler of the signal. The unwinder is
// libgcc's, behind the C library's backtrace(), which loads it at its first call: that is made early, as a loader must
// not run in a handler. From then on no lock is taken and nothing allocated (glibc 2.35 and later; before, the loader's
// list of modules is locked). The stack may be damaged: a fault while it is read ends the reading, and a timer kills
// the process if that does not come to an end.
#pragma once

#include <cstddef>

namespace marline::offload::device {

// Once, before the first kernel.
void prepare_crash_stack();

// In a handler of signals, by the one thread that ends the process: writes the region's frames as text, the innermost
// one first, " < " between them; "" if there are none. `context`: the handler's third argument.
void read_crash_stack(const void* context, char* to, size_t bytes);

// In a handler of SIGSEGV or SIGBUS, first: does not return if the fault is that of this thread's reading.
void leave_crash_stack();

}  // namespace marline::offload::device
