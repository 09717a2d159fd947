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

[[nodiscard]] Arrival workshare_enter(Worker* worker);

// Publishes construct number workshares_entered - 1 of the member.
void workshare_publish(Worker* worker, Workshare* shared);

void workshare_leave(Worker* worker, Workshare* shared);

// Zeroed memory for the construct, for the thread that fills it; never null. The last thread to leave frees it.
void* workshare_memory(Workshare* shared, size_t bytes);

}  // namespace marline
