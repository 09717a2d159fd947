// SPDX-License-Identifier: Apache-2.0
//
// WireKind::leave of the wire `mpi`.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

void leave_wire(Wire* wire, bool all);

// Makes the program's MPI_Finalize leave the job, if that comes before `leave`: after it no MPI function may be called.
// The user then gets frames from within MPI_Finalize. Called by join.
void leave_before_finalize(Wire* wire);

}  // namespace marline::offload::wire
