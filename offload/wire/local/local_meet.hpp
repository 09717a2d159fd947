// SPDX-License-Identifier: Apache-2.0
//
// The start of the wire `local`, by one thread. First the job meets: process 0 listens at the job's address, the others
// tell it who they are and where they listen, and get the list of all. Then each process connects to all with lower
// numbers, in their order, and after that accepts those with higher ones; as process 0 accepts at once, none waits for
// ever. What fails ends the process. Other processes that connect keep none of the job's waiting (reception.hpp).
#pragma once

#include "wire/local/local.hpp"
#include "wire/local/reception.hpp"
#include "wire/local/sockets.hpp"

namespace marline::offload::wire {

// Milliseconds that processes wait for each other, at the meeting and once more for the links; of a job that is no
// larger than most machines are, on an idle machine. A machine starts some processes per second and core. 0: as the
// option MARLINE_START_TIMEOUT says.
extern int g_patience;
[[nodiscard]] Deadline patience_of(const Job& job);

// Who a process is and where it can be reached.
struct Card {
  Peer peer;
  Address shared;  // a socket of the machine
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
// What is wrong, by errno; `otherwise` if it is nothing of this process's.
[[nodiscard]] const char* why_no_link(const char* otherwise);
// Begins to take connections. Ends the process if there is no memory for that.
void open_reception(const Meeting& meeting, Reception& reception, Purpose purpose, const Expected& expected,
                    const int* listeners, int count);
// The next caller that is not `here` yet. Ends the process if some have not come by the deadline, and names them; or if
// the system gives no descriptor for a connection, as it would wait for good.
[[nodiscard]] Caller next_caller(const Meeting& meeting, Reception& reception, const bool* here, Deadline deadline,
                                 const char* to_do_what);

// local_mesh.cpp: opens all links.
void open_links(LocalWire* wire, Meeting& meeting);

// local_forks.cpp: forks of the program have no part in the wire. They close its files, so that the peers see the end
// of the process that has joined.
void remember_local_wire(LocalWire* wire);
void forget_local_wire(LocalWire* wire);

}  // namespace marline::offload::wire
