// SPDX-License-Identifier: Apache-2.0
//
// Receives frames and delivers them. Only the poller calls these functions, and they call the user.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

// Posts receives for all slots. Called by join.
void open_slots(Wire* wire);

// Cancels the receives. The last call; messages that have arrived are dropped.
void close_slots(Wire* wire);

// Whether a message has arrived in the oldest slot, or a part of a bulk has arrived.
[[nodiscard]] bool has_arrived(Wire* wire);

// Handles what has arrived. Returns how many messages, held frames and parts of bulks it has handled.
int service_inboxes(Wire* wire);

void free_inboxes(Wire* wire);

}  // namespace marline::offload::wire
