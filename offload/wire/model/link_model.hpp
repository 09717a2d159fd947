// SPDX-License-Identifier: Apache-2.0
//
// A wire on top of another one, with links between nodes that are as slow as MARLINE_LINK says (link_speed.hpp): it
// tries on one machine how a program would run on several. The receiving process keeps each frame until the time at
// which it would have arrived.
//
// What it models: a latency; a bandwidth that all processes of a node share, for each other node and direction; and a
// bandwidth of the network card that all links of a node share, for each direction. A frame occupies the link and both
// cards from when it was sent, or from when the frames before it are through; it arrives, with its bulk, one latency
// after its last byte. A frame without a bulk is a packet or two, which pass between the packets of other bulks: it
// waits only for what the same process has sent to the same receiver before. The user sees calls in the same order as
// without the model.
//
// What it does not model: the sender's side (the wire below decides when `sent` is called and whether has_room is
// true), switches, packets of bulks, loss. Frames count in the order in which they really arrive, so the wire below
// must be much faster than the link. Bulks are copied once more. The receiver compares the senders' times with its own
// clock, so all processes must be on one machine.
//
// One job at a time in a process.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// Returns `below` itself if MARLINE_LINK is not set.
[[nodiscard]] const WireKind* with_link_model(const WireKind* below);

extern uint64_t (*g_link_clock)();  // the clock of `Frame::sent`; tests replace it

}  // namespace marline::offload::wire
