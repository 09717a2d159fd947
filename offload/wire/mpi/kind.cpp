// SPDX-License-Identifier: Apache-2.0
//
// The table of functions of the wire `mpi`, for one implementation of MPI: the only symbol that the library exports.
#include "wire/mpi/join.hpp"
#include "wire/mpi/leave.hpp"
#include "wire/mpi/outbox.hpp"
#include "wire/mpi/progress.hpp"

namespace marline::offload::wire {

namespace {

constexpr WireKind kMpi = {
    .name = "mpi",
    .join = join_wire,
    .number = [](const Wire* wire) { return wire->number; },
    .count = [](const Wire* wire) { return wire->count; },
    .peer = [](const Wire* wire, int number) -> const Peer* { return &wire->peers[number]; },
    .send = send_frame,
    .has_room = [](Wire* wire,
                   int peer) { return wire->outboxes[peer].queued_count.load(std::memory_order_relaxed) < kFewQueued; },
    .poll = poll_wire,
    .wait = wait_for_wire,
    .wake = wake_waiter,
    .leave = leave_wire,
};

}  // namespace

}  // namespace marline::offload::wire

extern "C" [[gnu::visibility("default")]] const marline::offload::wire::WireKind* marline_wire_kind() {
  return &marline::offload::wire::kMpi;
}
