// SPDX-License-Identifier: Apache-2.0
//
// The meeting of a job's processes at the job's address.
#include "wire/local/local_meet.hpp"

#include "base/options.hpp"
#include "wire/base/give_up.hpp"
#include "wire/base/peers.hpp"
#include "wire/local/handshake.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

int g_patience = 0;

namespace {

constexpr timespec kRetry = {0, 5'000'000};

int listen_or_give_up(const Meeting& meeting, const Address& address, const char* at) {
  int listener = listen_at(address);
  if (listener < 0) {
    give_up(meeting.user, "process %d of the job cannot listen at %s: %s", meeting.job.number, at, strerror(errno));
  }
  return listener;
}

// `beside`: an address of this process; the TCP port is opened on its interface.
void open_listeners(Meeting& meeting, const Address& beside) {
  meeting.shared_listener = listen_or_give_up(meeting, unnamed_address(), "a socket of the machine");
  Address address = beside.family() == AF_UNIX ? loopback_address() : beside;
  address.set_port(0);
  meeting.stream_listener = listen_or_give_up(meeting, address, "a TCP port");
  Card& card = meeting.cards[meeting.job.number];
  describe_self(meeting.job, meeting.job.number, card.peer);
  card.shared = own_address(meeting.shared_listener);
  card.stream = own_address(meeting.stream_listener);
}

// The card says at which port the process listens; the connection shows at which address this process reaches it.
void set_host(Card& card, int socket) {
  Address seen = peer_address(socket);
  if (seen.family() == AF_UNIX) return;  // on this machine: the card has the loopback address
  seen.set_port(card.stream.port());
  card.stream = seen;
}

// Writes the missing processes as a list of numbers and ranges.
void list_missing(const Meeting& meeting, const bool* here, char* text, size_t size) {
  size_t length = 0;
  *text = '\0';
  for (int from = 0; from < meeting.job.count && length + 32 < size;) {
    int to = from;
    while (to < meeting.job.count && !here[to]) ++to;
    if (to > from) {
      length += static_cast<size_t>(snprintf(text + length, size - length, length != 0 ? ", %d" : "%d", from));
      if (to - from > 1) length += static_cast<size_t>(snprintf(text + length, size - length, "-%d", to - 1));
    }
    from = to > from ? to : from + 1;
  }
}

void hand_out_cards(Meeting& meeting, const int* sockets, int count) {
  Deadline deadline = patience_of(meeting.job);
  for (int i = 0; i < count; ++i) {
    // A process that has ended meanwhile is missed when the links are opened.
    (void)!send_all(sockets[i], meeting.cards, sizeof(Card) * static_cast<size_t>(meeting.job.count), deadline);
    close(sockets[i]);
  }
}

// Listens at the address that the other processes are given, and at no other address of this machine.
int listen_for_others(const Meeting& meeting, const Address& address) {
  if (meeting.job.listener != nullptr) return *meeting.job.listener;
  int listener = listen_at(address);
  if (listener >= 0) return listener;
  // Other processes may reach this machine at an address that it does not know as its own.
  bool is_not_here = errno == EADDRNOTAVAIL;
  return listen_or_give_up(meeting, is_not_here ? of_all_interfaces(address) : address, meeting.job.address);
}

void meet_as_first(Meeting& meeting, const Address& known) {
  Address address = is_own_name(known) ? of_all_interfaces(known) : known;
  int listener = listen_for_others(meeting, address);
  open_listeners(meeting, own_address(listener));
  auto most = static_cast<size_t>(meeting.job.count);
  auto* here = static_cast<bool*>(std::calloc(most, sizeof(bool)));
  auto* sockets = static_cast<int*>(std::malloc(most * sizeof(int)));
  if (here == nullptr || sockets == nullptr) give_up(meeting.user, "no memory for %zu processes", most);
  Reception reception;
  open_reception(meeting, reception, Purpose::kMeet, {.bytes = sizeof(Card)}, &listener, 1);
  here[0] = true;
  Deadline deadline = patience_of(meeting.job);
  int count = 0;
  while (count < meeting.job.count - 1) {
    Caller caller = next_caller(meeting, reception, here, deadline, "to come");
    here[caller.number] = true;
    Card& card = meeting.cards[caller.number];
    std::memcpy(&card, caller.bytes, sizeof card);
    set_host(card, caller.socket);
    sockets[count++] = caller.socket;
  }
  reception.close();
  hand_out_cards(meeting, sockets, count);
  close(listener);
  std::free(sockets);
  std::free(here);
}

[[noreturn]] void give_up_on_first(const Meeting& meeting, int error, Deadline deadline) {
  const Job& job = meeting.job;
  if (error == EACCES) {
    give_up(meeting.user, "process %d of the job: a process of another user listens at %s; start the job again",
            job.number, job.address);
  }
  give_up(meeting.user, "process %d of the job has not reached process 0 at %s for %g s: %s", job.number, job.address,
          deadline.waited(), strerror(error));
}

// `was_there`: this process has reached process 0 before.
int reach_first(const Meeting& meeting, const Address& address, bool was_there, Deadline deadline) {
  for (;;) {
    int socket = connect_to(address, deadline);
    if (socket >= 0) return socket;
    int error = errno;
    bool has_ended = (meeting.job.is_begun || was_there) && error == ECONNREFUSED;
    if (has_ended) meeting.user.lost(meeting.user.data, 0, kHasEnded);  // process 0 itself reports the reason
    if (has_ended || !may_come(error) || deadline.left() == 0) give_up_on_first(meeting, error, deadline);
    nanosleep(&kRetry, nullptr);
  }
}

// Returns false if process 0 closed the connection before it knew this process; the caller must try again.
bool meet_first(Meeting& meeting, const Address& address, Deadline deadline) {
  const Job& job = meeting.job;
  int socket = reach_first(meeting, address, meeting.shared_listener >= 0, deadline);
  HandshakeResult handshake = greet(socket, job, 0, Purpose::kMeet, deadline);
  if (handshake == HandshakeResult::kStranger) {
    give_up(meeting.user, "the process at %s has another secret than process %d: it belongs to another job",
            job.address, job.number);
  }
  bool is_known = handshake == HandshakeResult::kDone;
  if (meeting.shared_listener < 0) open_listeners(meeting, own_address(socket));
  bool done = is_known && send_all(socket, &meeting.cards[job.number], sizeof(Card), deadline) &&
              receive_all(socket, meeting.cards, sizeof(Card) * static_cast<size_t>(job.count), deadline);
  if (done) {
    set_host(meeting.cards[0], socket);
  } else if (is_known || deadline.left() == 0) {
    const char* why = deadline.left() != 0 ? "has ended, or refuses it: two with this number?"
                      : handshake == HandshakeResult::kClosed
                          ? "does not answer, or refuses it: is MARLINE_JOB_COUNT the same there?"
                          : "does not answer";
    give_up(meeting.user, "process %d of the job at %s: process 0 %s", job.number, job.address, why);
  }
  close(socket);
  return done;
}

void meet_as_other(Meeting& meeting, const Address& address) {
  Deadline deadline = patience_of(meeting.job);
  while (!meet_first(meeting, address, deadline)) nanosleep(&kRetry, nullptr);
}

[[noreturn]] void give_up_waiting(const Meeting& meeting, const bool* here, Deadline deadline, const char* to_do_what) {
  char missing[512];
  list_missing(meeting, here, missing, sizeof missing);
  give_up(meeting.user, "process %d of the job at %s has waited %g s for these of %d processes %s: %s",
          meeting.job.number, meeting.job.address, deadline.waited(), meeting.job.count, to_do_what, missing);
}

const CheckedAtLoad g_checked(Option::kStartTimeout, [] { (void)option_milliseconds(Option::kStartTimeout); });

}  // namespace

Deadline patience_of(const Job& job) {
  int milliseconds = g_patience != 0 ? g_patience : option_milliseconds(Option::kStartTimeout);
  return Deadline::by_load(static_cast<int>(std::min<int64_t>(milliseconds * (1 + int64_t{job.count} / 32), INT_MAX)));
}

const char* why_no_link(const char* otherwise) {
  if (errno == EMFILE) return "this process may open no more files: is `ulimit -n` too low?";
  return errno == ENFILE || errno == ENOMEM || errno == ENOBUFS ? strerror(errno) : otherwise;
}

void open_reception(const Meeting& meeting, Reception& reception, Purpose purpose, const Expected& expected,
                    const int* listeners, int count) {
  if (reception.open(meeting.job, purpose, expected, listeners, count)) return;
  give_up(meeting.user, "no memory for connections of %d processes", meeting.job.count);
}

Caller next_caller(const Meeting& meeting, Reception& reception, const bool* here, Deadline deadline,
                   const char* to_do_what) {
  Caller caller;
  for (;;) {
    switch (reception.next(caller, deadline)) {
      case Reception::Outcome::kCaller: break;
      case Reception::Outcome::kNoFiles:
        give_up(meeting.user, "process %d of the job cannot take the connections of %d others: %s", meeting.job.number,
                meeting.job.count - 1, why_no_link(nullptr));
      default: give_up_waiting(meeting, here, deadline, to_do_what);
    }
    if (!here[caller.number]) return caller;
    close(caller.socket);  // a second process with this number
    for (int i = 0; i < caller.file_count; ++i) close(caller.files[i]);
  }
}

void meet(Meeting& meeting) {
  const Job& job = meeting.job;
  Address address;
  const char* wrong = job.address != nullptr ? parse_address(job.address, address) : "it is missing";
  if (wrong != nullptr) {
    give_up(meeting.user, "MARLINE_JOB_ADDRESS=%s: expected unix:@NAME or tcp:HOST:PORT, but %s",
            job.address != nullptr ? job.address : "", wrong);
  }
  if (job.number == 0) {
    meet_as_first(meeting, address);
  } else {
    meet_as_other(meeting, address);
  }
}

}  // namespace marline::offload::wire
