// SPDX-License-Identifier: Apache-2.0
//
// WireKind::join of the wire `mpi`.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

Wire* join_wire(const Job& job, const WireUser* user);

}  // namespace marline::offload::wire
