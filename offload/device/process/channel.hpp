// SPDX-License-Identifier: Apache-2.0
//
// The memory that the program and a device's process share: one ring carries commands to the device, another carries
// completions back. The readers of a ring are threads of one process and take turns by a lock of that process; the
// writers do the same in the other process. A reader that goes to sleep stores what it waits for, and a writer wakes it
// by a futex. A writer that finds its ring full yields.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// Carries bytes in one direction. `kBytes` is a power of two and larger than the longest message.
struct Ring {
  static constexpr uint64_t kBytes = 256 << 10;

  alignas(64) std::atomic<uint64_t> tail;  // stored by the writer after it has written the bytes (seq_cst)
  alignas(64) std::atomic<uint64_t> head;  // stored by the reader after it has read the bytes (release)
  // The futex: what a sleeping reader waits for, kAnything or kWantOfRoom. A writer stores 0 when it wakes the reader.
  alignas(64) std::atomic<uint32_t> wakes_at;
  char data[kBytes];

  [[nodiscard]] bool has_room(uint64_t bytes) const;
  void write(const void* from, uint64_t bytes);  // writes a part of a message; the ring must have room for it
  void publish();  // lets the reader see all that has been written; wakes it if it waits for kAnything
  // Wakes a sleeping reader, whatever it waits for: the ring is full, or a command must not wait for a free thread.
  void press();
  [[nodiscard]] uint64_t written() const { return tail.load(std::memory_order_relaxed); }  // a hint
  [[nodiscard]] bool is_empty() const;
  // Acquires all that is published, and all that its writers did before.
  void acquire() const { (void)tail.load(std::memory_order_acquire); }
  void read(void* to, uint64_t bytes);  // the bytes must be published

  static constexpr uint32_t kAnything = 1, kWantOfRoom = 2;
  // The reader says what it waits for, before `sleep`.
  void announce(uint32_t wakes_at_what) { wakes_at.store(wakes_at_what); }
  // Changes the announcement if it is still `of_what`.
  void announce_instead(uint32_t of_what, uint32_t wakes_at_what) {
    wakes_at.compare_exchange_strong(of_what, wakes_at_what);
  }
  void sleep(int milliseconds = -1);  // until a writer wakes it, or the time is over, or for no reason

 private:
  uint64_t written_;  // the writer's: the end of what it has written, published or not
};

enum class CommandKind : uint32_t { kLaunch, kLoad, kUnload, kFind, kCopy, kJump };

struct Command {
  CommandKind kind;
  uint32_t words;      // how many follow: arguments, or the characters of a name, padded
  uint64_t operation;  // the completion returns it
  uint64_t a, b, c;    // kLaunch: code, entry, place; kLoad: address, bytes; kUnload, kFind: handle;
                       // kCopy: to, from, bytes; kJump: handle, an address of the program (image/jumps.hpp)
  int64_t thread_limit;
  bool timed;  // kLaunch: the completion must have the kernel's times
};

struct Completion {
  uint64_t operation;
  uint64_t result;
  uint64_t begin, end;  // times of a kernel, if Command::timed asked for them (base/now.hpp)
};

// How the device's process has ended, and in which target region. It has the facts of a ProcessEnd (crash_report.hpp),
// in a form that the program can read from shared memory.
struct Crash {
  std::atomic<int> cause;  // stored last
  int running;             // how many kernels ran then; if several, entry and place may be 0: not known
  bool at_address;         // `value` is the address that a signal is about
  uint64_t value;          // else the status of exit
  uint64_t entry;
  uint64_t place;
  char stack[480];  // ProcessEnd::kStackText
};

struct Channel {
  Ring commands;
  Ring completions;
  // How many commands that are no kernels have been sent. They must not wait for a free thread.
  std::atomic<uint64_t> asked;
  Crash crash;
};

}  // namespace marline::offload::device
