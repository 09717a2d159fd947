// SPDX-License-Identifier: Apache-2.0
//
// How slow MARLINE_LINK makes a link between two nodes:
//
//     list = entry { ";" entry }        entry = [ NODE "-" NODE ":" ] item { "," item }
//     item = "latency=" number ( "ns" | "us" | "ms" | "s" ) | ( "bandwidth=" | "card=" ) number [ "k" | "M" | "G" ]
//
// An entry without nodes is for all links; later items replace earlier ones. Bandwidths are in bytes per second, k is
// 1000; `card` is the bandwidth of the network card of either node, which all its links share in each direction. No
// state.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::wire {

struct LinkSpeed {
  uint64_t latency = 0;    // nanoseconds
  double bandwidth = 0.0;  // bytes per nanosecond; 0: unlimited
  double card = 0.0;       // the same for the network card
};

// Times in nanoseconds until which earlier frames occupy the link, the sender's card and the receiver's card. Several
// processes share these words.
struct LinkWords {
  std::atomic<uint64_t>* link;
  std::atomic<uint64_t>* out;
  std::atomic<uint64_t>* in;
};

// Reads what the list says about the link between two nodes, in both directions. Returns null, or, for a text that is
// not such a list, the position of the error.
[[nodiscard]] const char* read_link_speed(const char* text, const char* node, const char* other, LinkSpeed& speed);

// Returns when a frame that is sent at `sent` has arrived. From then on its bytes occupy the link and both cards, at
// the same time. A frame that `passes` does not wait for earlier frames.
[[nodiscard]] uint64_t pass_link(const LinkSpeed& speed, const LinkWords& busy, uint64_t sent, uint64_t bytes,
                                 bool passes);

}  // namespace marline::offload::wire
