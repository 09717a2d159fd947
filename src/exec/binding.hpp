// SPDX-License-Identifier: Apache-2.0
//
// Binding threads to places (OpenMP 5.2, section 10.1.3). Off, and free of cost, unless OMP_PROC_BIND or OMP_PLACES asks.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Gives each member of the team a place by the policy for regions inside the opener's current one, within the opener's
// part of the place list; and what follows from the places: whom it steals from first, with whom it shares queues.
void assign_places(Team* team, Worker* opener);

// Binds the calling thread to place number `place` of the process unless it is there already; -1: leaves it.
void bind_to_place(Worker* worker, int place);

}  // namespace marline
