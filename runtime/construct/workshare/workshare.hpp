// SPDX-License-Identifier: Apache-2.0
//
// Entering and leaving the shared part of a worksharing construct (task/workshare.hpp). Every thread of the team does
// both, once per construct, in the same order.
#pragma once

#include "sched/team.hpp"

namespace marline {

struct Arrival {
  Workshare* shared;
  bool first;  // the caller fills `shared` and calls workshare_publish; others find it filled
};

// may_skip: in a cancelled region, rather than wait for a slot that threads may have left for ever, the caller gets
// null: the construct goes on without it.
[[nodiscard]] Arrival workshare_enter(Worker* worker, bool may_skip = false);

// The number is the construct's: the member's workshares_entered - 1.
void workshare_publish(Worker* worker, Workshare* shared);

void workshare_leave(Worker* worker, Workshare* shared);

// Zeroed memory of the construct; never null.
void* workshare_memory(Workshare* shared, size_t bytes);

}  // namespace marline
