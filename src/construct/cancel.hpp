// SPDX-License-Identifier: Apache-2.0
//
// cancel and cancellation point (OpenMP 5.2, sections 11.5 and 11.6). With cancel-var false, which is the default, they do
// nothing. Where a function here says true, the caller's code goes to the end of the construct that is cancelled.
#pragma once

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

// What a thread waits for that others of its team bring about in a worksharing construct, from which they may stay away
// when the region is cancelled: until `word` is at least `value`. False: the region is cancelled, and it may never be.
// Polls. Only where options().cancellation is set.
[[nodiscard]] bool wait_unless_cancelled(const Team* team, const Atomic<uint64_t>& word, uint64_t value);

// One pause between two looks at what others bring about.
void let_others_run();

}  // namespace marline
