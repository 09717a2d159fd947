// SPDX-License-Identifier: Apache-2.0
//
// Waits for frames. The waiting thread spins for up to 100 µs, and then sleeps in one call of poll(2), on the process's
// event file and on the epoll of all sockets. So it notices peers of its node, peers of other nodes, and the end of any
// peer. It sets `asleep` in the bell, then looks again, then sleeps; a sender first makes its frame visible and then
// reads `asleep` (shared_ring.cpp).
#include "wire/local/local.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace marline::offload::wire {

namespace {

constexpr uint64_t kSpin = 100'000;  // nanoseconds
constexpr int kLooksPerClock = 16;
constexpr int kLooksWithoutYield = 32;          // about two microseconds
constexpr int kLooksWithoutYieldForRoom = 128;  // for a bulk that waits for room: the peer reads it on another CPU

bool has_ready_socket(LocalWire* wire) {
  pollfd file = {wire->sockets, POLLIN, 0};
  if (poll(&file, 1, 0) <= 0) return false;
  wire->look_at_sockets.store(true, std::memory_order_relaxed);
  return true;
}

bool has_something(const LocalWire* wire) {
  if (wire->woken.load()) return true;
  for (int i = 0; i < wire->count; ++i) {
    if (wire->links[i].has_input() || wire->links[i].has_output()) return true;
  }
  return false;
}

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

// An answer that comes at once needs no system call. After some looks this thread yields the CPU to other threads,
// perhaps to the peer: the system tends to wake the peer on the sender's CPU. The peer may then have answered by a
// socket.
bool spin(LocalWire* wire, uint64_t limit, bool wants_room) {
  uint64_t end = now() + limit;
  int left = wants_room ? kLooksWithoutYieldForRoom : kLooksWithoutYield;
  if (wire->crowded) left = 0;
  do {
    for (int i = 0; i < kLooksPerClock; ++i) {
      if (has_something(wire)) return true;
      if (left-- > 0) {
        pause();
      } else {
        sched_yield();
        if (wire->streams != 0 && has_ready_socket(wire)) return true;
      }
    }
    if (wire->streams != 0 && has_ready_socket(wire)) return true;
  } while (now() < end);
  return false;
}

void watch_for_room(LocalWire* wire, Link& link, bool watch) {
  if (link.watches_room == watch) return;
  epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (watch ? EPOLLOUT : 0u), .data = {.ptr = &link}};
  epoll_ctl(wire->sockets, EPOLL_CTL_MOD, link.transport.socket, &event);
  link.watches_room = watch;
}

// Returns whether a socket has too little room for its queued frames.
bool watch_for_room(LocalWire* wire) {
  bool wants_room = false;
  for (int i = 0; wire->streams != 0 && i < wire->count; ++i) {
    Link& link = wire->links[i];
    if (link.transport.shared) continue;
    bool is_queued = link.queued.load(std::memory_order_relaxed) != 0;
    watch_for_room(wire, link, is_queued);
    wants_room = wants_room || is_queued;
  }
  return wants_room;
}

// Makes the readers of full rings ring the bell when there is room.
void want_room(LocalWire* wire) {
  for (int i = 0; i < wire->count; ++i) {
    Link& link = wire->links[i];
    if (link.transport.shared && link.queued.load() != 0) link.transport.out.want_room();
  }
}

void sleep(LocalWire* wire, int milliseconds) {
  pollfd files[] = {{wire->bell_file, POLLIN, 0}, {wire->sockets, POLLIN, 0}};
  constexpr int kLookAtHosts = 1000;  // milliseconds, as in local.cpp
  bool is_long = wire->streams != 0 && (milliseconds < 0 || milliseconds > kLookAtHosts);
  poll(files, 2, is_long ? kLookAtHosts : milliseconds);
  if (wire->streams != 0) wire->look_at_hosts.store(true, std::memory_order_relaxed);
  if (files[1].revents != 0) wire->look_at_sockets.store(true, std::memory_order_relaxed);
  uint64_t rung;
  if (files[0].revents != 0) (void)!read(wire->bell_file, &rung, sizeof rung);
}

}  // namespace

void local_wait(Wire* generic, int milliseconds) {
  LocalWire* wire = local_of(generic);
  uint64_t limit = static_cast<uint64_t>(milliseconds) * 1'000'000;
  bool wants_room = watch_for_room(wire);  // frames queued from now on wake this thread
  bool found = spin(wire, milliseconds < 0 || limit > kSpin ? kSpin : limit, wants_room);
  if (!found && milliseconds != 0) {
    wire->bell->asleep.store(1);  // before has_something looks: see above
    want_room(wire);
    if (!has_something(wire)) sleep(wire, milliseconds);
    wire->bell->asleep.store(0, std::memory_order_relaxed);
  }
  // Not a store: it could erase a wake, and the caller, which looks now, might not see the reason of that wake yet. An
  // exchange erases only the value that it reads, and after it this thread sees what was written before that wake
  // (seq_cst; pairs with local_wake).
  if (wire->woken.load(std::memory_order_relaxed)) wire->woken.exchange(false);
}

void local_wake(Wire* generic) {
  LocalWire* wire = local_of(generic);
  wire->woken.store(true);  // before `ring` reads `asleep`: see above
  wire->bell->ring(wire->bell_file);
}

}  // namespace marline::offload::wire
