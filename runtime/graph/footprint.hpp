// SPDX-License-Identifier: Apache-2.0
//
// Software prefetch of dependences (MARLINE_PREFETCH). With it on, a task keeps the addresses of its first dependences
// in the first chunk of its edges. A worker that is about to run a task prefetches, for the task that it will run after
// that, the first cache lines at each address. Off by default; then no addresses are kept. docs/design/locality.md has
// the measurements.
#pragma once

#include "graph/dependence.hpp"
#include "sched/team.hpp"

namespace marline {

// Called by the creator, before the task's edges are made.
void footprint_keep(Worker* worker, Task* task, const Dependence* list, size_t count);

// Called by the worker that is about to run `task`. It prefetches for the task that it runs next: a successor that
// waits only for `task`, or the newest task of its own deque.
[[gnu::cold]] void footprint_prefetch_after(Worker* worker, Task* task);

}  // namespace marline
