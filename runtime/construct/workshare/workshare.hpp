// SPDX-License-Identifier: Apache-2.0
//
// Entering and leaving the shared part of a worksharing construct (task/workshare.hpp). Every thread of the team does
// both, once per construct, in the same order.
#pragma once

#include "sched/team.hpp"

namespace marline {

struct Arrival {
  Workshare* shared;
  bool first;  // true: the caller must fill `shared` and call workshare_publish; the other threads find it filled
};

// may_skip: in a cancelled region, other threads may never free the slot. Then the caller gets null rather than
// waiting, and the construct continues without it.
[[nodiscard]] Arrival workshare_enter(Worker* worker, bool may_skip = false);

// Publishes construct number workshares_entered - 1 of the member.
void workshare_publish(Worker* worker, Workshare* shared);

void workshare_leave(Worker* worker, Workshare* shared);

// Zeroed memory for the construct; never null.
void* workshare_memory(Workshare* shared, size_t bytes);

}  // namespace marline
