// SPDX-License-Identifier: Apache-2.0
//
// Leaves the job. First this process sends what is queued, then a goodbye to each peer, which arrives after the frames.
// Then it waits for the goodbyes of the peers, which arrive after all their frames. It does not wait for ever for a
// peer that does not answer.
#include "wire/mpi/leave.hpp"

#include "base/now.hpp"
#include "wire/mpi/give_up.hpp"
#include "wire/mpi/inbox.hpp"
#include "wire/mpi/outbox.hpp"
#include "wire/mpi/progress.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace marline::offload::wire {

namespace {

constexpr uint64_t kPatience = 10'000'000'000;  // ns that this process waits for its peers

[[nodiscard]] int first_in_flight(Wire* wire) {
  for (int i = 0; i < wire->count; ++i) {
    if (wire->outboxes[i].in_flight.load(std::memory_order_relaxed) != 0) return i;
  }
  return -1;
}

[[nodiscard]] int first_present(Wire* wire) {
  for (int i = 0; i < wire->count; ++i) {
    if (i != wire->number && !wire->inboxes[i].said_goodbye) return i;
  }
  return -1;
}

// Polls until `first` finds no process. Returns a process that it still finds when the time is over, or -1.
int poll_until_none(Wire* wire, uint64_t until, int (*first)(Wire*)) {
  while (first(wire) >= 0) {
    if (poll_wire(wire) != 0) continue;
    if (now() > until) return first(wire);
    wait_for_wire(wire, 1);
  }
  return -1;
}

void warn(const Wire* wire, int peer, const char* what) {
  char line[160];
  const int length = std::snprintf(
      line, sizeof line, "marline: warning: process %d leaves the job, but process %d has not %s after %d s\n",
      wire->number, peer, what, static_cast<int>(kPatience / 1'000'000'000));
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(length));
}

// Returns true if nothing is in flight any more.
bool depart(Wire* wire, bool all) {
  const uint64_t until = now() + kPatience;
  int late = poll_until_none(wire, until, first_in_flight);
  if (late >= 0) {
    warn(wire, late, "received what was sent to it");
    return false;
  }
  for (int i = 0; i < wire->count; ++i) {
    if (i != wire->number) send_notice(wire, i, kByeTag);
  }
  late = poll_until_none(wire, until, first_in_flight);
  if (late < 0 && all) late = poll_until_none(wire, until, first_present);
  if (late >= 0) warn(wire, late, "left it");
  return late < 0;
}

// After this, no thread calls MPI for the wire.
void close_wire(Wire* wire) {
  // Pairs with the release of the last poller (progress.cpp).
  while (wire->polling.exchange(true, std::memory_order_acquire)) usleep(10);
  for (int i = 0; i < wire->count; ++i) close_outbox(wire, i);
  close_slots(wire);
  wire->closed = true;
  wire->polling.store(false, std::memory_order_release);
}

void depart_and_close(Wire* wire, bool all) {
  wire->all_left = depart(wire, all);
  close_wire(wire);
  if (!wire->all_left || !all) return;  // MPI_Comm_free is collective
  check(wire, mpi.comm_free(&wire->frames), "MPI_Comm_free");
  check(wire, mpi.comm_free(&wire->bulks), "MPI_Comm_free");
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else (MPI 3.1, 8.7.1).
int on_finalize(MPI_Comm, int, void* wire, void*) {
  auto* joined = static_cast<Wire*>(wire);
  if (!joined->closed) depart_and_close(joined, true);
  return MPI_SUCCESS;
}

void end_mpi(Wire* wire) {
  int is_finalized = 0;
  mpi.finalized(&is_finalized);
  if (is_finalized != 0) return;
  check(wire, mpi.comm_delete_attr(mpi.self, wire->keyval), "MPI_Comm_delete_attr");
  check(wire, mpi.comm_free_keyval(&wire->keyval), "MPI_Comm_free_keyval");
  // MPI_Finalize waits for all processes and for messages in flight. Without this call, the launcher ends the job.
  if (wire->initialised && wire->all_left) check(wire, mpi.finalize(), "MPI_Finalize");
}

}  // namespace

void leave_before_finalize(Wire* wire) {
  check(wire,
        mpi.comm_create_keyval(
            [](MPI_Comm, int, void*, void*, void*, int* flag) -> int {
              *flag = 0;  // copies of the communicator do not get the attribute
              return MPI_SUCCESS;
            },
            on_finalize, &wire->keyval, nullptr),
        "MPI_Comm_create_keyval");
  check(wire, mpi.comm_set_attr(mpi.self, wire->keyval, wire), "MPI_Comm_set_attr");
}

void leave_wire(Wire* wire, bool all) {
  if (!wire->closed) depart_and_close(wire, all);
  end_mpi(wire);
  for (int i = 0; i < wire->count; ++i) free_outbox(wire->outboxes[i]);
  free_inboxes(wire);
  std::free(wire->inboxes);
  std::free(wire->outboxes);
  std::free(wire->peers);
  std::free(wire);
}

}  // namespace marline::offload::wire
