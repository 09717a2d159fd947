// SPDX-License-Identifier: Apache-2.0
//
// Cancelling a parallel region or the worksharing region that a team is in (OpenMP 5.2, section 11.5): the part of the
// team, and the reason why the barrier stays correct. Members set bits in Team::cancelled; the last to arrive at a
// barrier acts.
//
// No thread leaves a barrier before all members have arrived at one, cancelled or not, so the count of arrivals is
// always that of an ordinary barrier. In a cancelled region members may arrive at different barriers of the program:
// some inside, some at the end. If any member was inside, the last to arrive decides "another round": members inside go
// to the end (or to their next cancellation point), members at the end wait there once more. The region is over when in
// a round all members are at its end. A worksharing region that is cancelled ends with a barrier, which clears the bit.
#pragma once

#include "exec/worker/cancellation.hpp"
#include "sched/team.hpp"

namespace marline {

// acquire: as in is_region_cancelled (exec/worker/cancellation.hpp).
inline bool is_workshare_cancelled(const Team* team) { return (team->cancelled.load(acquire) & Team::kWorkshare) != 0; }

// By a member, which then goes to the end of the region.
void cancel_region(Team* team);
void cancel_workshare(Team* team);

// Called by the last member to arrive, when none has been released: decides on another round, and clears the bits of
// regions that have ended.
void settle_cancellation(Team* team);

}  // namespace marline
