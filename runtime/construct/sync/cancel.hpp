// SPDX-License-Identifier: Apache-2.0
//
// cancel and cancellation point (OpenMP 5.2, sections 11.5 and 11.6). With cancel-var false, which is the default, they
// do nothing. If a function here returns true, the caller's code jumps to the end of the cancelled construct.
#pragma once

#include "exec/worker/parking.hpp"
#include "sched/team.hpp"

namespace marline {

enum class CancelKind { kParallel, kLoop, kSections, kTaskgroup };

// The cancel construct, its if clause being true.
[[nodiscard]] bool cancel(Worker* worker, CancelKind kind, const void* codeptr);

// Also a cancel construct whose if clause is false.
[[nodiscard]] bool cancellation_point(Worker* worker, CancelKind kind, const void* codeptr);

// Whether a cancellation point of that kind would say true.
bool is_cancellation_active(const Worker* worker, CancelKind kind);

// A barrier in a parallel construct that may be cancelled. True: it is, and the thread goes to its end.
[[nodiscard]] bool cancellable_barrier(Worker* worker, tool::SyncRegion kind, const void* codeptr);

// A thread may wait in a worksharing construct for others of its team that stay away from it, once the region is
// cancelled. Such a wait takes the interruption first, then looks whether what it waits for can still come, and waits
// until it has, or until the next thread stays away: then it looks again. Only where options().cancellation is set.
Interruption departures_of(const Team* team);

// The calling thread, in a cancelled region, takes no slot for worksharing constructs any more.
void skip_workshares(Member* member);

// Whether the thread will not come to worksharing constructs that others may be in.
bool stays_away(const Member& member);

}  // namespace marline
