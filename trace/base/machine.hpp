// SPDX-License-Identifier: Apache-2.0
//
// What the machine did to the run, as the kernel counts it: time that a hypervisor or a cgroup's quota took, page
// faults, memory that was short, the cores' frequency. Without these figures a report would take them for faults of the
// program. Two samples, at the begin and at the end of what counts. Any thread may call; one lock.
#ifndef MARLINE_TRACE_MACHINE_HPP
#define MARLINE_TRACE_MACHINE_HPP

#include <stdio.h>

namespace marline::trace {

// What counts begins now: recording begins, or MPI_Init has ended.
void begin_machine();

// What counts ends now: MPI_Finalize begins. Otherwise it ends whenever the description is written.
void end_machine();

// The two samples, as members of a JSON object: `"machine_begin": {...}, "machine_end": {...},`.
void write_machine_samples(FILE* out);

}  // namespace marline::trace

#endif
