// SPDX-License-Identifier: Apache-2.0
//
// The start of the wire `local`, by one thread. First the job meets: process 0 listens at the job's address. The other
// processes send it their cards, which say who they are and where they listen, and get the cards of all. Then each
// process connects to all processes with lower numbers, in ascending order, and after that accepts the processes with
// higher numbers. Process 0 accepts at once, so no process waits for ever. A failure ends the process. Other programs
// that connect do not keep the job waiting (reception.hpp).
#pragma once

#include "wire/local/local.hpp"
#include "wire/local/reception.hpp"
#include "wire/local/sockets.hpp"

namespace marline::offload::wire {

// Milliseconds that processes wait for each other, at the meeting and once more for the links. The value is for an idle
// machine, and for a job that is no larger than most machines are; a machine starts some processes per second and core.
// 0: take the option MARLINE_START_TIMEOUT.
extern int g_patience;
[[nodiscard]] Deadline patience_of(const Job& job);

// Says who a process is and where it can be reached.
struct Card {
  Peer peer;
  Address shared;  // a Unix socket of the machine
  Address stream;  // TCP
};

struct Meeting {
  const Job& job;
  const WireUser& user;
  Card* cards;  // one per process
  int shared_listener = -1;
  int stream_listener = -1;
};

// local_meet.cpp: fills the cards, and opens the listeners.
void meet(Meeting& meeting);
// Describes the error in errno if this process or its system lacks a resource, otherwise returns `otherwise`.
[[nodiscard]] const char* why_no_link(const char* otherwise);
// Starts to accept connections. Ends the process if there is no memory.
void open_reception(const Meeting& meeting, Reception& reception, Purpose purpose, const Expected& expected,
                    const int* listeners, int count);
// Returns the next caller that is not `here` yet. Ends the process if some callers have not come by the deadline, and
// names them. Also ends it if the system gives no descriptor for a connection, as it would wait for ever.
[[nodiscard]] Caller next_caller(const Meeting& meeting, Reception& reception, const bool* here, Deadline deadline,
                                 const char* to_do_what);

// local_mesh.cpp: opens all links.
void open_links(LocalWire* wire, Meeting& meeting);

// local_forks.cpp: processes that the program forks take no part in the wire. They close its files, so that the peers
// see the end of the process that has joined.
void remember_local_wire(LocalWire* wire);
void forget_local_wire(LocalWire* wire);

}  // namespace marline::offload::wire
