// SPDX-License-Identifier: Apache-2.0
//
// Frames that arrive. All by the poller, which calls the user from here.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

// Posts receives for all slots. By join.
void open_slots(Wire* wire);

// Takes the receives back. The last call; what has arrived is dropped.
void close_slots(Wire* wire);

// Whether a message has arrived in the oldest slot, or a part of a bulk.
[[nodiscard]] bool has_arrived(Wire* wire);

// Handles what has arrived. Returns how many messages, held frames and parts of bulks that were.
int service_inboxes(Wire* wire);

void free_inboxes(Wire* wire);

}  // namespace marline::offload::wire
