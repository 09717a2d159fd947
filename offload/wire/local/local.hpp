// SPDX-License-Identifier: Apache-2.0
//
// The wire `local`: shared memory between processes of one node, TCP between nodes. Every process has a link to every
// other process. A link costs two rings within a node, which take pages only once they are used, or else a socket and
// its buffers; and a poll looks at every ring. The wire is made for some dozens of processes per node and some hundreds
// in all; the limit is the number of open files, one or two per peer.
#pragma once

#include "base/now.hpp"
#include "wire/base/wire.hpp"
#include "wire/local/link.hpp"

#include <atomic>

namespace marline::offload::wire {

extern const WireKind kLocalWire;

struct LocalWire {
  LocalWire* next;  // the next wire of this process, for forks
  WireUser user;
  int number, count;
  Peer* peers;        // `count`
  Link* links;        // `count`; the link of this process to itself is gone from the start
  uint64_t job_word;  // in every frame

  Bell* bell;        // this process's bell, which all peers of the node map
  int bell_file;     // an eventfd; the waiting thread sleeps on it and on `sockets`
  int sockets;       // an epoll of all links' sockets
  int streams = 0;   // number of TCP links
  int host_timeout;  // milliseconds that a peer's machine may be silent
  char silence[96];  // the text that reports a machine that is silent for longer
  bool crowded;      // the machine has fewer CPUs than the job has processes on it

  Lock poll_lock;  // the thread that holds it polls
  int first = 0;   // the link that the next poll visits first; used by the polling thread, like the next three
  unsigned polls = 0;
  bool leaves_alone = false;     // this process does not wait for all to leave; the peers answer by closing their ends
  uint64_t looked_at_hosts = 0;  // time of the last look at the hosts, by now
  std::atomic<bool> woken{false};            // set by `wake`; reset by the waiting thread
  std::atomic<bool> look_at_sockets{false};  // the waiting thread has seen that a socket is ready
  std::atomic<bool> look_at_hosts{false};    // a thread has slept: it may be time to look at the hosts
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

// Handles the result of a send: ends the process if there was no memory, and wakes the waiting thread if the frame is
// the first in the queue.
void note_sent(LocalWire* wire, Link::Sent sent);
[[nodiscard]] Frame control_frame(const LocalWire* wire, ControlKind kind);

}  // namespace marline::offload::wire
