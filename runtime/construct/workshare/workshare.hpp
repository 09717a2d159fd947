// SPDX-License-Identifier: Apache-2.0
//
// Entering and leaving the shared part of a worksharing construct (task/workshare.hpp). Every thread of the team enters
// each construct, in the same order. It leaves those that may have memory.
#pragma once

#include "sched/team.hpp"

namespace marline {

struct Arrival {
  Workshare* shared;
  bool first;  // true: the caller must fill `shared` and call workshare_publish; the other threads find it filled
};

[[nodiscard]] Arrival workshare_enter(Worker* worker);

// The thread enters a construct next, and another one inside it: their shared parts shall lie in one block. A thread
// that enters a construct of a later block is past the one before, and uses it no more.
void keep_two_together(Worker* worker);

// Publishes construct number workshares_entered - 1 of the member.
void workshare_publish(Worker* worker, Workshare* shared);

void workshare_leave(Worker* worker, Workshare* shared);

// Zeroed memory for the construct, for the thread that fills it; never null. The last thread to leave frees it.
void* workshare_memory(Workshare* shared, size_t bytes);

}  // namespace marline
