// SPDX-License-Identifier: Apache-2.0
//
// What a process says of itself to its peers, and what two of them have in common. Any thread.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// This process, as the job's number `number`.
void describe_self(const Job& job, int number, Peer& peer);

[[nodiscard]] bool are_on_one_machine(const Peer& a, const Peer& b);
// They share memory.
[[nodiscard]] bool are_on_one_node(const Peer& a, const Peer& b);

}  // namespace marline::offload::wire
