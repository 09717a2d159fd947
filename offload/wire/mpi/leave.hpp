// SPDX-License-Identifier: Apache-2.0
//
// WireKind::leave.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

void leave_wire(Wire* wire, bool all);

// Leaves in the program's MPI_Finalize, if that comes before `leave`: after it no function of MPI may be called. The
// user gets frames from within that call then. By join.
void leave_before_finalize(Wire* wire);

}  // namespace marline::offload::wire
