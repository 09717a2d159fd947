// SPDX-License-Identifier: Apache-2.0
//
// Sends frames: starts them at once while the peer has credits left and few bulks are in flight, queues them otherwise.
// A small frame with kMayWait is queued until the next frame, or a poll.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

// WireKind::send. Any thread.
bool send_frame(Wire* wire, int peer, const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing);

// Sends a message of the wire itself, which needs no credit: kCreditsTag, or kByeTag, after which nothing is sent to
// the peer.
void send_notice(Wire* wire, int peer, Tag tag);

// The peer has taken `credits` more frames. Called by the poller.
void add_credits(Wire* wire, int peer, uint32_t credits);

// Removes the messages that have been sent, and starts queued ones. Returns how many bulks were sent, and messages
// started. Called by the poller.
int service_outbox(Wire* wire, int peer);

// Whether service_outbox would find the oldest message sent, or start a queued one. Called by the poller.
[[nodiscard]] bool can_move(Wire* wire, int peer);

// Nothing is sent to the peer any more; queued frames are dropped. Called by the poller.
void close_outbox(Wire* wire, int peer);

// Called when no other thread uses the outbox any more. Messages in flight are left as they are.
void free_outbox(Outbox& outbox);

}  // namespace marline::offload::wire
