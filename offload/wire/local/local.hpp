// SPDX-License-Identifier: Apache-2.0
//
// The wire `local`: shared memory between processes of one node, TCP between nodes. Every process has a link to every
// other one. That costs per link two rings within a node, whose pages are taken once they are used, or else a socket
// and its buffers; and a poll looks at every ring. It is made for some dozens of processes a node and some hundreds in
// all; the limit is that of open files, one or two per peer.
#pragma once

#include "wire/base/clock.hpp"
#include "wire/base/wire.hpp"
#include "wire/local/link.hpp"

#include <atomic>

namespace marline::offload::wire {

extern const WireKind kLocalWire;

struct LocalWire {
  LocalWire* next;  // of the process, for forks
  WireUser user;
  int number, count;
  Peer* peers;        // `count`
  Link* links;        // `count`; that of this process is gone from the start
  uint64_t job_word;  // in every frame

  Bell* bell;        // this process's, which all peers of the node map
  int bell_file;     // an eventfd; the waiting thread sleeps on it and on `sockets`
  int sockets;       // an epoll of all links' sockets
  int streams = 0;   // links by TCP
  int host_timeout;  // milliseconds that a machine may be silent
  char silence[96];  // what is said of one that is for longer
  bool crowded;      // the machine has fewer CPUs than the job has processes there

  Lock poll_lock;  // whoever has it polls
  int first = 0;   // the link that the next poll visits first; of that thread, as are the next
  unsigned polls = 0;
  bool leaves_alone = false;                 // peers answer that by closing their ends
  uint64_t looked_at_hosts = 0;              // by monotonic_nanoseconds
  std::atomic<bool> woken{false};            // by `wake`; taken back by the waiting thread
  std::atomic<bool> look_at_sockets{false};  // the waiting thread has seen that one of them is ready
  std::atomic<bool> look_at_hosts{false};    // a thread has slept: it may be time
};

// local_join.cpp
Wire* local_join(const Job& job, const WireUser* user);

// local_wait.cpp
void local_wait(Wire* wire, int milliseconds);
void local_wake(Wire* wire);

// local_leave.cpp
void local_leave(Wire* wire, bool all);

int local_poll(Wire* wire);

inline LocalWire* local_of(Wire* wire) { return reinterpret_cast<LocalWire*>(wire); }
inline const LocalWire* local_of(const Wire* wire) { return reinterpret_cast<const LocalWire*>(wire); }

// A thread that finds queued frames has to see to them.
void note_sent(LocalWire* wire, Link::Sent sent);
[[nodiscard]] Frame control_frame(const LocalWire* wire, ControlKind kind);

}  // namespace marline::offload::wire
