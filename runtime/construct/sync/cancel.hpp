// SPDX-License-Identifier: Apache-2.0
//
// cancel and cancellation point (OpenMP 5.2, sections 11.5 and 11.6). With cancel-var false, which is the default, they
// do nothing. If a function here returns true, the caller's code jumps to the end of the cancelled construct.
#pragma once

#include "exec/worker/parking.hpp"
#include "sched/team.hpp"

namespace marline {

enum class CancelKind { kParallel, kLoop, kSections, kTaskgroup };

// The cancel construct, if its if clause is true.
[[nodiscard]] bool cancel(Worker* worker, CancelKind kind, const void* codeptr);

// A cancellation point, or a cancel construct with a false if clause.
[[nodiscard]] bool cancellation_point(Worker* worker, CancelKind kind, const void* codeptr);

// Whether a cancellation point of that kind would return true.
bool is_cancellation_active(const Worker* worker, CancelKind kind);

// A barrier in a parallel construct that may be cancelled. True: the construct is cancelled, and the thread goes to its
// end.
[[nodiscard]] bool cancellable_barrier(Worker* worker, tool::SyncRegion kind, const void* codeptr);

// In a cancelled region, a thread may wait in a worksharing construct for threads that never come to it. Such a wait
// first gets the Interruption from this function, then checks whether the awaited change can still come, and waits
// until it has come or until another thread stays away; then it checks again. Only where options().cancellation is set.
Interruption departures_of(const Team* team);

// Whether the thread will not come to worksharing constructs that other threads may be in.
bool stays_away(const Member& member);

}  // namespace marline
