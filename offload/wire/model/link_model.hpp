// SPDX-License-Identifier: Apache-2.0
//
// A wire whose links between nodes are as slow as MARLINE_LINK says (link_speed.hpp), on top of any other wire: to try
// a program for several machines on one. The receiving process keeps each frame until it would have come.
//
// What it models: a latency; a bandwidth that all processes of a node share per other node and direction; and a
// bandwidth of the network card that all links of a node share, per direction. A frame takes the link and both cards
// when it was sent, or when the frames before it are through; it comes, with its bulk, a latency after its last byte. A
// frame without a bulk is a packet or two, which pass between those of other bulks: it waits only for what the same
// process has sent to the same one before. The users see calls in the same order as without it.
//
// What it does not: the sender's side (`sent` is called, and has_room is true, when the wire below says so), switches,
// packets of bulks, loss. A frame counts in the order in which it truly arrives, so the wire below must be much faster
// than the link. Bulks cost one copy more. The stamps of senders are compared with the clock of the receiver, so all
// processes must be on one machine.
//
// One job at a time in a process.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// `below` itself if MARLINE_LINK is not set.
[[nodiscard]] const WireKind* with_link_model(const WireKind* below);

extern uint64_t (*g_link_clock)();  // that of `Frame::sent`; another one in tests

}  // namespace marline::offload::wire
