// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a team's worksharing constructs (task/workshare.hpp): which one comes next, and which are over.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The member, which is about to enter the first construct of a block, is past the block before; returns the new one.
// By the member's thread. No memory: fatal.
WorkshareBlock* enter_next_block(Member* member);

// At the end of a cancelled region, whose members have entered different numbers of constructs: ends all constructs,
// and gives all blocks back but that of `last`, the member that has come furthest. All other threads wait meanwhile.
void end_workshare_blocks(Team* team, const Member* last);

}  // namespace marline
