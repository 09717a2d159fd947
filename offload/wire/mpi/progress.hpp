// SPDX-License-Identifier: Apache-2.0
//
// WireKind's poll, wait and wake of the wire `mpi`.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

int poll_wire(Wire* wire);
void wait_for_wire(Wire* wire, int milliseconds);
void wake_waiter(Wire* wire);

}  // namespace marline::offload::wire
