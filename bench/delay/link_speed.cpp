// SPDX-License-Identifier: Apache-2.0
//
// See link_speed.h. An _Atomic uint64_t of C and a std::atomic<uint64_t> are the same 8 bytes.
#include "link_speed.h"

#include "wire/model/link_speed.hpp"

#include <cstring>

using marline::offload::wire::LinkSpeed;

static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t) && std::atomic<uint64_t>::is_always_lock_free);

const char* link_read(const char* text, const char* node, const char* other, Link* link) {
  LinkSpeed speed;
  const char* wrong = marline::offload::wire::read_link_speed(text, node, other, speed);
  *link = {speed.latency, speed.bandwidth};
  return wrong == nullptr && speed.card != 0.0 ? std::strstr(text, "card=") : wrong;  // ranks share no cards here
}

uint64_t link_pass(const Link* link, void* busy, uint64_t sent, uint64_t bytes) {
  LinkSpeed speed;
  speed.latency = link->latency;
  speed.bandwidth = link->bandwidth;
  std::atomic<uint64_t> out{0}, in{0};
  return marline::offload::wire::pass_link(speed, {static_cast<std::atomic<uint64_t>*>(busy), &out, &in}, sent, bytes,
                                           false);
}
