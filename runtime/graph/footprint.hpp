// SPDX-License-Identifier: Apache-2.0
//
// Software prefetch of dependences (MARLINE_PREFETCH). With it on, a task keeps the addresses of its first dependences,
// in the first chunk of its edges. A worker that is about to run a task prefetches the first cache lines at each
// address of the task that it will run next. Off by default; then no addresses are kept. docs/design/locality.md has
// the measurements.
#pragma once

#include "graph/dependences.hpp"
#include "sched/team.hpp"

namespace marline {

// Creator, before the task's edges are made.
void footprint_keep(Worker* worker, Task* task, const Dependence* list, size_t count);

// The worker that is about to run `task`, and after it the successor that only this one holds up, or the newest task of
// its own deque.
[[gnu::cold]] void footprint_prefetch_after(Worker* worker, Task* task);

}  // namespace marline
