// SPDX-License-Identifier: Apache-2.0
//
// The start of the wire `local`, by one thread. First the job meets: process 0 listens at the job's address, the others
// tell it who they are and where they listen, and get the list of all. Then each process connects to all with lower
// numbers, in their order, and after that accepts those with higher ones; as process 0 accepts at once, none waits for
// ever. What fails ends the process.
#pragma once

#include "wire/local/local.hpp"
#include "wire/local/sockets.hpp"

namespace marline::target {

// Milliseconds that processes wait for each other, at the meeting and once more for the links; of a job that is no larger
// than most machines are. A machine starts some processes per second and core.
extern int g_patience;
[[nodiscard]] inline int patience_of(const Job& job) { return g_patience * (1 + job.count / 32); }

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
// The next connection to a listener, or -1: there is none any more. Ends the process if the system gives no descriptor
// for it, as the connection would wait for good.
[[nodiscard]] int take_connection(const Meeting& meeting, int listener);
// What is wrong, by errno; `otherwise` if it is nothing of this process's.
[[nodiscard]] const char* why_no_link(const char* otherwise);
// The end of this process, as others have not come: names them.
[[noreturn]] void give_up_waiting(const Meeting& meeting, const bool* here, const char* to_do_what);

// local_mesh.cpp: opens all links.
void open_links(LocalWire* wire, Meeting& meeting);

// local_forks.cpp: forks of the program have no part in the wire. They close its files, so that the peers see the end of
// the process that has joined.
void remember_local_wire(LocalWire* wire);
void forget_local_wire(LocalWire* wire);

}  // namespace marline::target
