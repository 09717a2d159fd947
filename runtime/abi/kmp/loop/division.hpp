// SPDX-License-Identifier: Apache-2.0
//
// The threads or teams among which a static schedule divides a loop, and the calling thread's place among them.
#pragma once

#include "sched/team.hpp"

#include <cstdint>

namespace marline::kmp {

struct Division {
  uint64_t index;
  uint64_t count;
};

inline Division among_threads(const Member* member) {
  return {static_cast<uint64_t>(member->index), static_cast<uint64_t>(member->team->size)};
}

// `distribute` divides among the teams of the league.
inline Division among_teams(const Member* member) {
  return {static_cast<uint64_t>(member->icvs.team_num), static_cast<uint64_t>(member->icvs.num_teams)};
}

}  // namespace marline::kmp
