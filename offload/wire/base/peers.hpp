// SPDX-License-Identifier: Apache-2.0
//
// Describes a process to its peers, and compares the descriptions of two processes. Any thread.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// Describes this process as process `number` of the job.
void describe_self(const Job& job, int number, Peer& peer);

[[nodiscard]] bool are_on_one_machine(const Peer& a, const Peer& b);
// Whether the two processes share memory.
[[nodiscard]] bool are_on_one_node(const Peer& a, const Peer& b);

}  // namespace marline::offload::wire
