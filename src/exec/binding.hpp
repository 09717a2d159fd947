// SPDX-License-Identifier: Apache-2.0
//
// Binding threads to places (OpenMP 5.2, section 10.1.3). Off, and free of cost, unless OMP_PROC_BIND or OMP_PLACES asks.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Gives each member of the team a place by the policy for regions inside the opener's current one, within the opener's
// part of the place list; and what follows from the places: whom it steals from first, with whom it shares queues.
void assign_places(Team* team, Worker* opener);

// The process's first thread is on the first place from the start, also before its first region of several threads. Others
// of the program's threads may be meant to work beside it: a region that they open binds them.
void bind_first_thread(Worker* worker);

// Binds the calling thread to place number `place` of the process unless it is there already; -1: leaves it.
void bind_to_place(Worker* worker, int place);

}  // namespace marline
