// SPDX-License-Identifier: Apache-2.0
//
// See the header. The meeting.
#include "wire/local/local_meet.hpp"

#include "wire/base/give_up.hpp"
#include "wire/base/peers.hpp"
#include "wire/local/handshake.hpp"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::target {

int g_patience = 30'000;

namespace {

constexpr int kStranger = 1000;             // milliseconds that one who connects and says nothing keeps the others
constexpr timespec kRetry = {0, 5'000'000};

int listen_or_give_up(const Meeting& meeting, const Address& address, const char* at) {
  int listener = listen_at(address);
  if (listener < 0) {
    give_up(meeting.user, "process %d of the job cannot listen at %s: %s", meeting.job.number, at, strerror(errno));
  }
  return listener;
}

// `beside`: the address whose interface TCP uses.
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

// The card says at which port; the connection says at which address it is reached from here.
void set_host(Card& card, int socket) {
  Address seen = peer_address(socket);
  if (seen.family() == AF_UNIX) return;  // the loopback's
  seen.set_port(card.stream.port());
  card.stream = seen;
}

// A list of numbers and ranges.
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

// Takes the card of one that connects. Its socket, or -1: it is none of the job's.
int take_card(Meeting& meeting, int listener, bool* here) {
  int socket = take_connection(meeting, listener);
  if (socket < 0) return -1;
  Deadline deadline(kStranger);
  Card card;
  int number = take_greeting(socket, meeting.job, Purpose::kMeet, deadline);
  if (number < 0 || here[number] || !receive_all(socket, &card, sizeof card, deadline)) {
    close(socket);
    return -1;
  }
  set_host(card, socket);
  here[number] = true;
  meeting.cards[number] = card;
  return socket;
}

void hand_out_cards(Meeting& meeting, const int* sockets, int count) {
  Deadline deadline(patience_of(meeting.job));
  for (int i = 0; i < count; ++i) {
    // One that has ended meanwhile is missed when the links are opened.
    (void)!send_all(sockets[i], meeting.cards, sizeof(Card) * static_cast<size_t>(meeting.job.count), deadline);
    close(sockets[i]);
  }
}

void meet_as_first(Meeting& meeting, const Address& address) {
  int listener = meeting.job.listener != nullptr
                     ? *meeting.job.listener
                     : listen_or_give_up(meeting, widened(address), meeting.job.address);
  open_listeners(meeting, widened(address));
  auto most = static_cast<size_t>(meeting.job.count);
  auto* here = static_cast<bool*>(std::calloc(most, sizeof(bool)));
  auto* sockets = static_cast<int*>(std::malloc(most * sizeof(int)));
  if (here == nullptr || sockets == nullptr) give_up(meeting.user, "no memory for %zu processes", most);
  here[0] = true;
  Deadline deadline(patience_of(meeting.job));
  int count = 0;
  while (count < meeting.job.count - 1) {
    if (!wait_for(listener, POLLIN, deadline)) give_up_waiting(meeting, here, "to come");
    int socket = take_card(meeting, listener, here);
    if (socket >= 0) sockets[count++] = socket;
  }
  hand_out_cards(meeting, sockets, count);
  close(listener);
  std::free(sockets);
  std::free(here);
}

// `moment` begins before process 0 can know of the connection.
int reach_first(const Meeting& meeting, const Address& address, Deadline deadline, Deadline& moment) {
  for (;;) {
    moment = Deadline(kStranger);
    int socket = connect_to(address, deadline);
    if (socket >= 0) return socket;
    int error = errno;
    if (!may_come(error) || deadline.left() == 0) {
      give_up(meeting.user, "process %d of the job has not reached process 0 at %s for %g s: %s", meeting.job.number,
              meeting.job.address, patience_of(meeting.job) / 1000.0, strerror(error));
    }
    nanosleep(&kRetry, nullptr);
  }
}

// False: process 0 may have taken this process for a stranger, which it hears for a moment only. So it looks to those that
// wait for a processor longer than that.
bool meet_first(Meeting& meeting, const Address& address, Deadline deadline) {
  const Job& job = meeting.job;
  Deadline moment(kStranger);
  int socket = reach_first(meeting, address, deadline, moment);
  Greeting greeting = greet(socket, job, 0, Purpose::kMeet, deadline);
  if (greeting == Greeting::kStranger) {
    give_up(meeting.user, "the process at %s has another secret than process %d: it belongs to another job", job.address,
            job.number);
  }
  if (meeting.shared_listener < 0) open_listeners(meeting, own_address(socket));
  bool is_told = greeting == Greeting::kDone && send_all(socket, &meeting.cards[job.number], sizeof(Card), deadline);
  bool was_late = moment.left() == 0;
  bool done = is_told && receive_all(socket, meeting.cards, sizeof(Card) * static_cast<size_t>(job.count), deadline);
  if (done) {
    set_host(meeting.cards[0], socket);
  } else if (!was_late || deadline.left() == 0) {
    const char* why = deadline.left() == 0 ? "does not answer" : "has ended, or refuses it: two with this number?";
    give_up(meeting.user, "process %d of the job at %s: process 0 %s", job.number, job.address, why);
  }
  close(socket);
  return done;
}

void meet_as_other(Meeting& meeting, const Address& address) {
  Deadline deadline(patience_of(meeting.job));
  while (!meet_first(meeting, address, deadline)) {}
}

}  // namespace

const char* why_no_link(const char* otherwise) {
  if (errno == EMFILE) return "this process may open no more files: is `ulimit -n` too low?";
  return errno == ENFILE || errno == ENOMEM || errno == ENOBUFS ? strerror(errno) : otherwise;
}

int take_connection(const Meeting& meeting, int listener) {
  errno = 0;
  int socket = accept_from(listener);
  const char* wrong = socket < 0 ? why_no_link(nullptr) : nullptr;
  if (wrong == nullptr) return socket;
  give_up(meeting.user, "process %d of the job cannot take the connections of %d others: %s", meeting.job.number,
          meeting.job.count - 1, wrong);
}

void give_up_waiting(const Meeting& meeting, const bool* here, const char* to_do_what) {
  char missing[512];
  list_missing(meeting, here, missing, sizeof missing);
  give_up(meeting.user, "process %d of the job at %s has waited %g s for these of %d processes %s: %s", meeting.job.number,
          meeting.job.address, patience_of(meeting.job) / 1000.0, meeting.job.count, to_do_what, missing);
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

}  // namespace marline::target
