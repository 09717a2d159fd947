// SPDX-License-Identifier: Apache-2.0
//
// Frames on their way out: started at once while the peer has credits left and few bulks are under way, queued
// otherwise. A small one with kMayWait is queued until the next frame, or a poll.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

// WireKind::send. Any thread.
bool send_frame(Wire* wire, int peer, const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing);

// A message of the wire's own, which needs no credit: kCreditsTag, or kByeTag, after which nothing is sent any more.
void send_notice(Wire* wire, int peer, Tag tag);

// The peer has taken so many frames. By the poller.
void add_credits(Wire* wire, int peer, uint32_t credits);

// Takes back what has been sent, and starts what is queued. Returns how many bulks were sent, and messages started. By
// the poller.
int service_outbox(Wire* wire, int peer);

// Whether service_outbox would find the oldest message sent, or start a queued one. By the poller.
[[nodiscard]] bool can_move(Wire* wire, int peer);

// Nothing is sent to the peer any more; what is queued is dropped. By the poller.
void close_outbox(Wire* wire, int peer);

// When no other thread uses it any more. Messages that are still flying are left as they are.
void free_outbox(Outbox& outbox);

}  // namespace marline::offload::wire
