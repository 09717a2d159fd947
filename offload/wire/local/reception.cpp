// SPDX-License-Identifier: Apache-2.0
//
// Serves the connections of a job's processes side by side.
#include "wire/local/reception.hpp"

#include "base/now.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::wire {

namespace {

// Nanoseconds; a newcomer that is unproven for longer may be dropped to free its descriptor.
constexpr uint64_t kSilence = 1'000'000'000;
constexpr int kAtOnce = 64;  // connections accepted between two looks at the newcomers

bool has_no_descriptor() { return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS; }

}  // namespace

struct Reception::Newcomer {
  int socket;
  uint64_t since;  // now
  Source source;
  Handshake handshake;
  size_t got;  // of `bytes`
  char bytes[Caller::kMostBytes];
  int files[kMostFiles];

  [[nodiscard]] bool is_proven() const { return handshake.state() == Handshake::State::kProven; }
};

bool Reception::open(const Job& job, Purpose purpose, const Expected& expected, const int* listeners, int count) {
  job_ = &job;
  purpose_ = purpose;
  expected_ = expected;
  listener_count_ = count;
  std::copy(listeners, listeners + count, listeners_);
  most_ = kStrangers + job.count;
  auto most = static_cast<size_t>(most_);
  newcomers_ = static_cast<Newcomer*>(std::malloc(most * sizeof(Newcomer)));
  watched_ = static_cast<pollfd*>(std::malloc((most + kMostListeners + 1) * sizeof(pollfd)));
  return newcomers_ != nullptr && watched_ != nullptr;
}

void Reception::close() {
  while (count_ != 0) drop(count_ - 1);
  std::free(newcomers_);
  std::free(watched_);
  newcomers_ = nullptr;
  watched_ = nullptr;
}

Reception::Outcome Reception::next(Caller& caller, Deadline deadline, int other) {
  for (;;) {
    Outcome outcome = Outcome::kTimeIsOver;
    watch(other);
    int listening = watched_newcomers_ + listener_count_;
    int ready = poll(watched_, static_cast<nfds_t>(listening + 1), milliseconds_to_look(deadline));
    if (ready > 0 && watched_[listening].revents != 0) return Outcome::kOther;
    if (ready > 0 && (hear_newcomers(caller, outcome) || take_connections(outcome))) return outcome;
    if (is_starved_) drop_silent();
    if (deadline.left() == 0) return Outcome::kTimeIsOver;
  }
}

void Reception::watch(int other) {
  for (int i = 0; i < count_; ++i) watched_[i] = {newcomers_[i].socket, POLLIN, 0};
  for (int i = 0; i < listener_count_; ++i) watched_[count_ + i] = {is_starved_ ? -1 : listeners_[i], POLLIN, 0};
  watched_[count_ + listener_count_] = {other, POLLIN, 0};
  watched_newcomers_ = count_;
}

int Reception::milliseconds_to_look(Deadline deadline) const {
  constexpr int kStarved = 100;
  return is_starved_ ? std::min(kStarved, deadline.left()) : deadline.left();
}

// Goes from the last newcomer to the first, because the removal of a newcomer moves the ones after it. Returns whether
// there is an outcome.
bool Reception::hear_newcomers(Caller& caller, Outcome& outcome) {
  for (int i = watched_newcomers_ - 1; i >= 0; --i) {
    if (watched_[i].revents == 0) continue;
    Newcomer& newcomer = newcomers_[i];
    Step step = hear(newcomer);
    if (step == Step::kWaits) continue;
    if (step != Step::kDone) {
      int error = errno;
      drop(i);
      errno = error;
      outcome = Outcome::kNoFiles;
      if (step == Step::kNoFiles) return true;
      continue;
    }
    caller.number = newcomer.handshake.number();
    caller.socket = newcomer.socket;
    std::memcpy(caller.bytes, newcomer.bytes, sizeof caller.bytes);
    caller.file_count = expected_.files != nullptr ? expected_.files(expected_.data, caller.number) : 0;
    std::copy(newcomer.files, newcomer.files + kMostFiles, caller.files);
    remove(i);
    outcome = Outcome::kCaller;
    return true;
  }
  return false;
}

bool Reception::take_connections(Outcome& outcome) {
  for (int i = 0; i < listener_count_; ++i) {
    if (watched_[watched_newcomers_ + i].revents == 0) continue;
    for (int taken = 0; taken < kAtOnce; ++taken) {
      int socket = accept_from(listeners_[i]);
      if (socket >= 0) {
        add(socket);
      } else if (has_no_descriptor()) {
        is_starved_ = true;
        outcome = Outcome::kNoFiles;
        if (count_ == 0) is_starved_ = false;
        return count_ == 0;
      } else if (errno != EACCES) {
        break;
      }
    }
  }
  return false;
}

Reception::Step Reception::hear(Newcomer& newcomer) {
  while (!newcomer.is_proven()) {
    Step step = hear_handshake(newcomer);
    if (step != Step::kDone) return step;
  }
  return hear_rest(newcomer);
}

// kDone: the handshake has advanced by one step.
Reception::Step Reception::hear_handshake(Newcomer& newcomer) {
  char bytes[sizeof(Handshake::Hello)];
  ssize_t got = receive_some(newcomer.socket, bytes, newcomer.handshake.wants());
  if (got < 0 && errno == EAGAIN) return Step::kWaits;
  if (got <= 0) return Step::kDropped;
  Handshake::Answer answer = newcomer.handshake.take(*job_, bytes, static_cast<size_t>(got));
  if (newcomer.handshake.state() == Handshake::State::kRefused) return Step::kDropped;
  // Nothing else is in the socket's buffer, so the answer is sent at once.
  bool is_sent = answer.count == 0 || send(newcomer.socket, answer.bytes, answer.count, MSG_DONTWAIT | MSG_NOSIGNAL) ==
                                          static_cast<ssize_t>(answer.count);
  return is_sent ? Step::kDone : Step::kDropped;
}

Reception::Step Reception::hear_rest(Newcomer& newcomer) {
  while (newcomer.got < expected_.bytes) {
    ssize_t got = receive_some(newcomer.socket, newcomer.bytes + newcomer.got, expected_.bytes - newcomer.got);
    if (got < 0 && errno == EAGAIN) return Step::kWaits;
    if (got <= 0) return Step::kDropped;
    newcomer.got += static_cast<size_t>(got);
  }
  int files = expected_.files != nullptr ? expected_.files(expected_.data, newcomer.handshake.number()) : 0;
  if (files == 0 || receive_files_now(newcomer.socket, newcomer.files, files)) return Step::kDone;
  if (errno == EAGAIN) return Step::kWaits;
  return has_no_descriptor() ? Step::kNoFiles : Step::kDropped;
}

void Reception::add(int socket) {
  if (count_ == most_) make_room();
  uint64_t nonce[2];
  choose(nonce);
  Handshake handshake(purpose_, nonce);
  new (&newcomers_[count_++]) Newcomer{socket, now(), source_of(socket), handshake, 0, {}, {}};
}

void Reception::drop(int index) {
  ::close(newcomers_[index].socket);
  remove(index);
}

void Reception::remove(int index) {
  for (int i = index + 1; i < count_; ++i) newcomers_[i - 1] = newcomers_[i];
  --count_;
  is_starved_ = false;
}

// Drops the stranger that has waited longest, of the source that has most strangers. Proven newcomers are of the job.
void Reception::make_room() {
  constexpr uint64_t kLists = 256;
  int by_source[kLists] = {};  // strangers per hash of the source; sources with the same hash share a count
  auto list_of = [](const Source& source) {
    return ((source.words[0] ^ source.words[1] ^ source.words[2]) * 0x9e3779b97f4a7c15u) / (UINT64_MAX / kLists + 1);
  };
  int chosen = 0, most = 0;
  for (int i = 0; i < count_; ++i) by_source[list_of(newcomers_[i].source)] += newcomers_[i].is_proven() ? 0 : 1;
  for (int i = 0; i < count_; ++i) {
    int here = newcomers_[i].is_proven() ? 0 : by_source[list_of(newcomers_[i].source)];
    if (here > most) chosen = i;
    most = std::max(most, here);
  }
  drop(chosen);
}

void Reception::drop_silent() {
  uint64_t time = now();
  for (int i = 0; i < count_; ++i) {
    bool is_silent = !newcomers_[i].is_proven() && time - newcomers_[i].since > kSilence;
    if (is_silent) return drop(i);
  }
}

}  // namespace marline::offload::wire
