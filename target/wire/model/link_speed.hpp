// SPDX-License-Identifier: Apache-2.0
//
// How slow a link between two nodes is made, by MARLINE_LINK:
//
//     list = entry { ";" entry }        entry = [ NODE "-" NODE ":" ] item { "," item }
//     item = "latency=" number ( "ns" | "us" | "ms" | "s" ) | "bandwidth=" number [ "k" | "M" | "G" ]
//
// An entry without nodes is for all links; later items take the place of earlier ones. Bandwidths are bytes per second, k
// is 1000. No state.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::target {

struct LinkSpeed {
  uint64_t latency = 0;    // nanoseconds
  double bandwidth = 0.0;  // bytes per nanosecond; 0: any number at once
};

// What the list says of the link between two nodes, in both directions. Null; or else, for a text that is no list, where it
// stops to be one.
[[nodiscard]] const char* read_link_speed(const char* text, const char* node, const char* other, LinkSpeed& speed);

// When a frame that is sent at `sent` has arrived, if the link is busy until `busy` with what came before. Moves `busy`,
// which several processes may share. Nanoseconds.
[[nodiscard]] uint64_t pass_link(const LinkSpeed& speed, std::atomic<uint64_t>& busy, uint64_t sent, uint64_t bytes);

}  // namespace marline::target
