// SPDX-License-Identifier: Apache-2.0
//
// See link_speed.h. An _Atomic uint64_t of C and a std::atomic<uint64_t> are the same 8 bytes.
#include "link_speed.h"

#include "wire/model/link_speed.hpp"

using marline::target::LinkSpeed;

static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t) && std::atomic<uint64_t>::is_always_lock_free);

const char* link_read(const char* text, const char* node, const char* other, Link* link) {
  LinkSpeed speed;
  const char* wrong = marline::target::read_link_speed(text, node, other, speed);
  *link = {speed.latency, speed.bandwidth};
  return wrong;
}

uint64_t link_pass(const Link* link, void* busy, uint64_t sent, uint64_t bytes) {
  return marline::target::pass_link({link->latency, link->bandwidth}, *static_cast<std::atomic<uint64_t>*>(busy), sent,
                                    bytes);
}
