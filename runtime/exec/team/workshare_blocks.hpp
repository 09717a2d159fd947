// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a team's worksharing constructs (task/workshare.hpp): which one comes next, and which are over.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The member, which is about to enter the first construct of a block, is past the block before; returns the new one.
// By the member's thread. No memory: fatal.
WorkshareBlock* enter_next_block(Member* member);

// After a cancelled region, whose members have entered different numbers of constructs: all blocks but that of `last`
// are over, and so are all constructs. By a thread that has all others wait.
void end_workshare_blocks(Team* team, const Member* last);

}  // namespace marline
