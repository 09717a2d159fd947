// SPDX-License-Identifier: Apache-2.0
//
// The team barrier: complete when every member has arrived and every explicit task of the team has completed; members
// run tasks while they wait. Gathering is flat (one counter) for small teams and a tree for large ones; the release is
// one word that all members read.
#pragma once

#include "sched/team.hpp"
#include "tool/tool.hpp"

namespace marline {

// The current implicit task's barrier. In a cancelled region (exec/team/region_cancellation.hpp) it waits for nothing
// but that all members are at some barrier; the one of the region's end, for all to be there. kind, codeptr: for tools;
// of a region's end, codeptr is the region's.
void team_barrier(Worker* worker, tool::SyncRegion kind = tool::SyncRegion::kBarrierImplicitParallel,
                  const void* codeptr = nullptr);

// The subtree of an implicit task that waits at a barrier has ended: its member arrives. Called by whichever thread
// completed the last task of it.
void barrier_arrive(Member* member);

}  // namespace marline
