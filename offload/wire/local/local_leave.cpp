// SPDX-License-Identifier: Apache-2.0
//
// Leaves the job. One thread calls this, when no other thread uses the wire any more.
#include "wire/local/local.hpp"

#include "wire/local/local_meet.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace marline::offload::wire {

namespace {

constexpr int kStep = 100;                   // milliseconds of one wait; the bell ends it earlier
constexpr uint64_t kLinger = 1'000'000'000;  // nanoseconds that peers have to close their ends

template <class Condition>
void poll_until(LocalWire* wire, Condition condition) {
  auto* generic = reinterpret_cast<Wire*>(wire);
  while (!condition()) {
    if (local_poll(generic) == 0) local_wait(generic, kStep);
  }
}

template <class Condition>
bool all_links(LocalWire* wire, Condition condition) {
  for (int i = 0; i < wire->count; ++i) {
    if (!condition(wire->links[i])) return false;
  }
  return true;
}

bool is_gone(const Link& link) { return link.gone.load(std::memory_order_relaxed); }

void say_leave(LocalWire* wire) {
  for (int i = 0; i < wire->count; ++i) {
    note_sent(wire, wire->links[i].send_control(control_frame(wire, ControlKind::kLeave)));
  }
}

// If a socket is closed while it holds unread data, the system drops the data that is still in flight to the peer. So
// this process first shuts down its sending side, and then reads until the peer has closed its end.
void drain_streams(LocalWire* wire) {
  wire->leaves_alone = true;
  for (int i = 0; i < wire->count; ++i) {
    Link& link = wire->links[i];
    if (!is_gone(link) && !link.transport.shared) shutdown(link.transport.socket, SHUT_WR);
  }
  uint64_t end = now() + kLinger;
  poll_until(wire, [&] {
    bool closed = all_links(wire, [](const Link& link) { return is_gone(link) || link.transport.shared; });
    return closed || now() > end;
  });
}

void free_link(Link& link) {
  Transport& t = link.transport;
  if (int socket = t.socket.load(std::memory_order_relaxed); socket >= 0) close(socket);
  if (t.bell_file >= 0) close(t.bell_file);
  if (t.memory != nullptr) munmap(t.memory, t.memory_bytes);
  if (t.bell != nullptr) munmap(t.bell, sizeof(Bell));
  while (link.outbox.first() != nullptr) link.outbox.drop_first();
  std::free(t.stage);
  link.~Link();
}

}  // namespace

void local_leave(Wire* generic, bool all) {
  LocalWire* wire = local_of(generic);
  say_leave(wire);
  poll_until(wire, [&] {
    return all_links(wire, [](const Link& link) { return link.queued.load(std::memory_order_relaxed) == 0; });
  });
  if (all) {
    poll_until(wire, [&] { return all_links(wire, [](const Link& link) { return link.has_left || is_gone(link); }); });
  } else {
    drain_streams(wire);
  }
  forget_local_wire(wire);
  for (int i = 0; i < wire->count; ++i) free_link(wire->links[i]);
  close(wire->sockets);
  close(wire->bell_file);
  munmap(wire->bell, sizeof(Bell));
  std::free(wire->links);
  std::free(wire->peers);
  wire->~LocalWire();
  std::free(wire);
}

}  // namespace marline::offload::wire
