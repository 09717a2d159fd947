// SPDX-License-Identifier: Apache-2.0
//
// single (OpenMP 5.2, section 11.1) and its copyprivate clause.
#pragma once

#include "sched/team.hpp"

namespace marline {

// True for the one thread of the team that runs the block.
[[nodiscard]] bool single_enter(Worker* worker);

// copyprivate: the thread that ran the block publishes, the others receive; both contain a barrier, and the data stays
// valid until the next one.
void single_publish(Worker* worker, void* data);
[[nodiscard]] void* single_receive(Worker* worker);

}  // namespace marline
