// SPDX-License-Identifier: Apache-2.0
//
// The team barrier: complete when every member has arrived and every explicit task of the team has completed; members
// run tasks while they wait. Gathering is flat (one counter) for small teams and a tree for large ones; the release is
// one word that all members read.
#pragma once

#include "sched/team.hpp"
#include "tool/tool.hpp"

namespace marline {

// A barrier, entered by the current implicit task. In a cancelled region (exec/team/region_cancellation.hpp) it waits
// only until all members are at some barrier; the barrier at the region's end waits until all members are at that end.
// kind, codeptr: for tools; at a region's end, codeptr is the region's.
void team_barrier(Worker* worker, tool::SyncRegion kind = tool::SyncRegion::kBarrierImplicitParallel,
                  const void* codeptr = nullptr);

// The subtree of an implicit task that waits at a barrier has ended: its member arrives. Called by whichever thread
// completed the last task of it.
void barrier_arrive(Member* member);

}  // namespace marline
