// SPDX-License-Identifier: Apache-2.0
//
// How slow a link between two nodes is made, by MARLINE_LINK:
//
//     list = entry { ";" entry }        entry = [ NODE "-" NODE ":" ] item { "," item }
//     item = "latency=" number ( "ns" | "us" | "ms" | "s" ) | ( "bandwidth=" | "card=" ) number [ "k" | "M" | "G" ]
//
// An entry without nodes is for all links; later items take the place of earlier ones. Bandwidths are bytes per second,
// k is 1000; `card` is that of the network card of either node, which all its links share in each direction. No state.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::wire {

struct LinkSpeed {
  uint64_t latency = 0;    // nanoseconds
  double bandwidth = 0.0;  // bytes per nanosecond; 0: any number at once
  double card = 0.0;       // likewise
};

// Until when the link is busy with what came before, and the sender's card, and the receiver's. Nanoseconds. Several
// processes share these words.
struct LinkWords {
  std::atomic<uint64_t>* link;
  std::atomic<uint64_t>* out;
  std::atomic<uint64_t>* in;
};

// What the list says of the link between two nodes, in both directions. Null; or else, for a text that is no list,
// where it stops to be one.
[[nodiscard]] const char* read_link_speed(const char* text, const char* node, const char* other, LinkSpeed& speed);

// When a frame that is sent at `sent` has arrived; its bytes take the link and both cards from then on, at the same
// time. A frame that `passes` waits for none before it.
[[nodiscard]] uint64_t pass_link(const LinkSpeed& speed, const LinkWords& busy, uint64_t sent, uint64_t bytes,
                                 bool passes);

}  // namespace marline::offload::wire
