// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program and a device's process share: a ring of commands in one direction, one of completions in the
// other. Readers and writers take turns by a lock of their own process. A reader that sleeps says what for, and is
// woken by a futex; a full ring makes its writer yield.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// Bytes in, bytes out. `kBytes` is a power of two, more than the longest message.
struct Ring {
  static constexpr uint64_t kBytes = 256 << 10;

  alignas(64) std::atomic<uint64_t> tail;      // by the writer: released behind what it has written
  alignas(64) std::atomic<uint64_t> head;      // by the reader: released behind what it has read
  alignas(64) std::atomic<uint32_t> wakes_at;  // what a sleeping reader waits for; the futex. A writer that wakes it: 0
  char data[kBytes];

  [[nodiscard]] bool has_room(uint64_t bytes) const;
  void write(const void* from, uint64_t bytes);  // a part of a message; there is room
  void publish();                                // what has been written so far; wakes a reader that waits for it
  void press();                                  // there is no room: wakes a reader that waits for that
  [[nodiscard]] uint64_t written() const { return tail.load(std::memory_order_relaxed); }  // a hint
  [[nodiscard]] bool is_empty() const;
  void acquire() const { (void)tail.load(std::memory_order_acquire); }  // what is published, with what came before it
  void read(void* to, uint64_t bytes);                                  // it is there

  static constexpr uint32_t kAnything = 1, kWantOfRoom = 2;
  void announce(uint32_t wakes_at_what) { wakes_at.store(wakes_at_what); }  // before `sleep`
  void announce_instead(uint32_t of_what, uint32_t wakes_at_what) {         // if that is still what was announced
    wakes_at.compare_exchange_strong(of_what, wakes_at_what);
  }
  void sleep(int milliseconds = -1);  // until that, or the time is over, or for no reason

 private:
  uint64_t written_;  // of the writer: not published yet
};

enum class CommandKind : uint32_t { kLaunch, kLoad, kUnload, kFind, kCopy, kJump };

struct Command {
  CommandKind kind;
  uint32_t words;      // that follow: arguments, or the characters of a name, padded
  uint64_t operation;  // comes back with the result
  uint64_t a, b, c;    // kLaunch: code, entry, place; kLoad: address, bytes; kUnload, kFind: handle;
                       // kCopy: to, from, bytes; kJump: handle, an address of the program (image/jumps.hpp)
  int64_t thread_limit;
  bool timed;  // kLaunch: the completion has times
};

struct Completion {
  uint64_t operation;
  uint64_t result;
  uint64_t begin, end;  // of a kernel, if they were asked for (tell.hpp, now)
};

// How the device's process has ended, and in which target region: ProcessEnd (crash_report.hpp), for another process.
struct Crash {
  std::atomic<int> cause;  // stored last
  int running;             // kernels at that time; if several, entry and place may be those of none
  bool at_address;         // `value` is the address that a signal is about
  uint64_t value;          // or the status of exit
  uint64_t entry;
  uint64_t place;
  char stack[480];  // ProcessEnd::kStackText
};

struct Channel {
  Ring commands;
  Ring completions;
  std::atomic<uint64_t> asked;  // commands other than kernels that have been sent: they do not wait for a free thread
  Crash crash;
};

}  // namespace marline::offload::device
