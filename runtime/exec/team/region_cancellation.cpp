// SPDX-License-Identifier: Apache-2.0
//
// Cancels parallel regions and worksharing regions; the protocol is in region_cancellation.hpp. settle_cancellation
// runs while all members wait. The members' arrivals order it after their earlier actions, and the barrier's epoch
// orders it before their later ones. So it may access the members' data.
#include "exec/team/region_cancellation.hpp"

#include "exec/team/workshare_blocks.hpp"
#include "sched/this_worker.hpp"
#include "tool/target_observer.hpp"

#include <algorithm>

namespace marline {

namespace {

bool all_at_end(const Team* team) {
  return std::all_of(team->members, team->members + team->size,
                     [](const Member& member) { return member.at_barrier == AtBarrier::kEnd; });
}

// Members may have left the region before different constructs. The next region starts from member 0's counts: they
// become those of the member that has come furthest.
void renumber_constructs(Team* team) {
  const Member* last =
      std::max_element(team->members, team->members + team->size,
                       [](const Member& a, const Member& b) { return a.workshares_entered < b.workshares_entered; });
  end_workshare_blocks(team, last);
  team->members[0].workshares_entered = last->workshares_entered;
  team->members[0].block = last->block;
  // The member that comes first to a single construct has taken it.
  team->members[0].singles_entered = team->singles.load(relaxed);
}

void end_region(Team* team) {
  uncount_cancellation();
  renumber_constructs(team);
  for (int i = 0; i < team->size; ++i) {
    team->members[i].absent.store(false, relaxed);
    team->members[i].copies = false;
    team->members[i].loop.shared = nullptr;
  }
  release_kept(this_worker(), team->kept);
}

}  // namespace

void cancel_region(Team* team) {
  // Before the bit is set: a thread that is ordered after the bit finds the count raised.
  count_cancellation();
  // release pairs with is_region_cancelled.
  if ((team->cancelled.fetch_or(Team::kRegion, acq_rel) & Team::kRegion) != 0) uncount_cancellation();
  tool::report_cancellation();
}

void cancel_workshare(Team* team) { team->cancelled.fetch_or(Team::kWorkshare, release); }

void settle_cancellation(Team* team) {
  bool region = is_region_cancelled(team);
  bool over = region && all_at_end(team);
  if (over) end_region(team);
  team->another_round = region && !over;
  team->cancelled.store(team->another_round ? Team::kRegion : 0, relaxed);
}

}  // namespace marline
