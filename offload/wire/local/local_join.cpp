// SPDX-License-Identifier: Apache-2.0
//
// Joins the job: makes the wire, meets the other processes and opens the links.
#include "base/options.hpp"
#include "wire/base/give_up.hpp"
#include "wire/base/peers.hpp"
#include "wire/local/handshake.hpp"
#include "wire/local/local_meet.hpp"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::wire {

namespace {

const CheckedAtLoad g_checked(Option::kHostTimeout, [] { (void)option_milliseconds(Option::kHostTimeout); });

LocalWire* make_wire(const Job& job, const WireUser& user) {
  auto count = static_cast<size_t>(job.count);
  void* memory = std::malloc(sizeof(LocalWire));
  auto* peers = static_cast<Peer*>(std::calloc(count, sizeof(Peer)));
  void* links = std::aligned_alloc(alignof(Link), sizeof(Link) * count);
  if (memory == nullptr || peers == nullptr || links == nullptr) {
    give_up(user, "no memory for a job of %d processes", job.count);
  }
  auto* wire = new (memory) LocalWire{};
  wire->user = user;
  wire->number = job.number;
  wire->count = job.count;
  wire->peers = peers;
  wire->links = static_cast<Link*>(links);
  wire->job_word = job_word_of(job);
  wire->host_timeout = option_milliseconds(Option::kHostTimeout);
  std::snprintf(wire->silence, sizeof wire->silence,
                "has not been heard of for %g s: its machine is down, or the network is cut",
                wire->host_timeout / 1000.0);
  wire->bell_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  wire->sockets = epoll_create1(EPOLL_CLOEXEC);
  if (wire->bell_file < 0 || wire->sockets < 0) {
    give_up(user, "process %d of the job has no open file left: %s", job.number, strerror(errno));
  }
  for (int i = 0; i < job.count; ++i) {
    auto* link = new (&wire->links[i]) Link{};
    link->peer = i;
    link->gone.store(true, std::memory_order_relaxed);  // until the link is open
  }
  return wire;
}

// Takes the CPUs that this process may use for the CPUs of all processes of the machine.
bool is_crowded(const LocalWire* wire) {
  cpu_set_t cpus;
  int here = 0;
  for (int i = 0; i < wire->count; ++i) {
    here += are_on_one_machine(wire->peers[i], wire->peers[wire->number]) ? 1 : 0;
  }
  return sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) < here;
}

}  // namespace

Wire* local_join(const Job& job, const WireUser* user) {
  LocalWire* wire = make_wire(job, *user);
  auto* cards = static_cast<Card*>(std::calloc(static_cast<size_t>(job.count), sizeof(Card)));
  if (cards == nullptr) give_up(*user, "no memory for a job of %d processes", job.count);
  Meeting meeting = {.job = job, .user = *user, .cards = cards};
  meet(meeting);
  for (int i = 0; i < job.count; ++i) wire->peers[i] = cards[i].peer;
  wire->crowded = is_crowded(wire);
  open_links(wire, meeting);
  close(meeting.shared_listener);
  close(meeting.stream_listener);
  std::free(cards);
  remember_local_wire(wire);
  return reinterpret_cast<Wire*>(wire);
}

}  // namespace marline::offload::wire
