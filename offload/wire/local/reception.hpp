// SPDX-License-Identifier: Apache-2.0
//
// Takes connections of a job's processes. Whoever connects is heard side by side with all others, so one that is
// silent, slow or no process of the job keeps nobody waiting. Connections that have not proved to know the job's secret
// are limited in number: beyond that, the oldest of the source goes that has most. A process that has been sent away
// tries again (Greeting::kClosed). One thread.
#pragma once

#include "wire/local/handshake.hpp"

#include <poll.h>

namespace marline::offload::wire {

// One that belongs to the job. Its socket and its files belong to whoever gets it.
struct Caller {
  static constexpr size_t kMostBytes = 512;
  int number;
  int socket;
  char bytes[kMostBytes];
  int file_count;  // so many of `files` are its owner's to close
  int files[kMostFiles];
};

// What follows the handshake.
struct Expected {
  size_t bytes = 0;                                      // at most Caller::kMostBytes
  int (*files)(const void* data, int number) = nullptr;  // how many that process sends behind them; null: none
  const void* data = nullptr;
};

class Reception {
 public:
  // kNoFiles: the system gives no descriptor for the next connection, by errno, and none that could be given up is
  // open.
  enum class Outcome : uint8_t { kCaller, kTimeIsOver, kOther, kNoFiles };

  static constexpr int kMostListeners = 2;
  static constexpr int kStrangers = 64;  // connections beside one for each process of the job

  // The job, the expectation's data and the listeners stay. False: no memory.
  [[nodiscard]] bool open(const Job& job, Purpose purpose, const Expected& expected, const int* listeners, int count);
  // Drops those whom it hears; the listeners are not its own.
  void close();

  // Waits for the next caller, for the deadline, or until there is something to read at `other`.
  [[nodiscard]] Outcome next(Caller& caller, Deadline deadline, int other = -1);

 private:
  struct Guest;
  enum class Step : uint8_t { kWaits, kDone, kDropped, kNoFiles };

  void watch(int other);
  [[nodiscard]] int milliseconds_to_look(Deadline deadline) const;
  [[nodiscard]] bool hear_guests(Caller& caller, Outcome& outcome);
  [[nodiscard]] bool take_connections(Outcome& outcome);
  [[nodiscard]] Step hear(Guest& guest);
  [[nodiscard]] Step hear_handshake(Guest& guest);
  [[nodiscard]] Step hear_rest(Guest& guest);
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
  Guest* guests_ = nullptr;  // `most_`, of which `count_` are there, the oldest first
  int count_ = 0, most_ = 0;
  pollfd* watched_ = nullptr;  // the guests in their order, then the listeners, then the other file
  int watched_guests_ = 0;
  bool is_starved_ = false;  // no descriptor was left; the listeners are not watched until a guest has gone
};

}  // namespace marline::offload::wire
