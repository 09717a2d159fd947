// SPDX-License-Identifier: Apache-2.0
//
// Accepts connections of a job's processes. It serves all connections at the same time, so a connection that is silent
// or slow, or not from a process of the job, delays no other. The number of connections that have not proved that they
// know the job's secret is limited: at the limit, it drops the oldest one of the source that has most. A process that
// has been dropped tries again (HandshakeResult::kClosed). One thread.
#pragma once

#include "wire/local/handshake.hpp"

#include <poll.h>

namespace marline::offload::wire {

// A process of the job that has connected. The receiver of this struct owns the socket and the files.
struct Caller {
  static constexpr size_t kMostBytes = 512;
  int number;
  int socket;
  char bytes[kMostBytes];
  int file_count;  // number of valid `files`, which the owner closes
  int files[kMostFiles];
};

// The data that follows the handshake.
struct Expected {
  size_t bytes = 0;  // at most Caller::kMostBytes
  // How many files that process sends after the bytes; null: none.
  int (*files)(const void* data, int number) = nullptr;
  const void* data = nullptr;
};

class Reception {
 public:
  // kNoFiles: the system gives no descriptor for the next connection (errno says why), and no connection is open that
  // could be closed instead.
  enum class Outcome : uint8_t { kCaller, kTimeIsOver, kOther, kNoFiles };

  static constexpr int kMostListeners = 2;
  static constexpr int kStrangers = 64;  // connections in addition to one for each process of the job

  // `job`, `expected.data` and the listeners must stay valid. Returns false if there is no memory.
  [[nodiscard]] bool open(const Job& job, Purpose purpose, const Expected& expected, const int* listeners, int count);
  // Closes the connections that it still serves. Does not close the listeners.
  void close();

  // Waits for the next caller, for the deadline, or until `other` is readable.
  [[nodiscard]] Outcome next(Caller& caller, Deadline deadline, int other = -1);

 private:
  struct Newcomer;
  enum class Step : uint8_t { kWaits, kDone, kDropped, kNoFiles };

  void watch(int other);
  [[nodiscard]] int milliseconds_to_look(Deadline deadline) const;
  [[nodiscard]] bool hear_newcomers(Caller& caller, Outcome& outcome);
  [[nodiscard]] bool take_connections(Outcome& outcome);
  [[nodiscard]] Step hear(Newcomer& newcomer);
  [[nodiscard]] Step hear_handshake(Newcomer& newcomer);
  [[nodiscard]] Step hear_rest(Newcomer& newcomer);
  void add(int socket);
  void drop(int index);
  void remove(int index);
  void make_room();
  void drop_silent();

  const Job* job_ = nullptr;
  Purpose purpose_ = Purpose::kMeet;
  Expected expected_;
  int listeners_[kMostListeners] = {};
  int listener_count_ = 0;
  Newcomer* newcomers_ = nullptr;  // room for `most_`; `count_` are in use, oldest first
  int count_ = 0, most_ = 0;
  pollfd* watched_ = nullptr;  // the newcomers in their order, then the listeners, then `other`
  int watched_newcomers_ = 0;
  bool is_starved_ = false;  // no descriptor was left; the listeners are not watched until a newcomer is removed
};

}  // namespace marline::offload::wire
