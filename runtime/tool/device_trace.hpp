// SPDX-License-Identifier: Apache-2.0
//
// The trace of one device: buffers of the tool's that are filled with records, one at a time. A cursor is a record's
// place in bytes. What is left of a buffer behind the last record begins with an empty one.
//
// The tool is called without the lock, so that its callbacks may take locks that are held around the functions here.
// The thread that calls it has the turn, and the trace has no buffer until the turn ends: threads that need a buffer
// wait for that, as do flush and stop. In a callback these two find nothing to give back and do not wait.
#pragma once

#include "base/spin_lock.hpp"
#include "tool/tool.hpp"

namespace marline::tool {

inline constexpr int kMaxDevices = 256;  // with higher numbers: no events

class DeviceTrace {
 public:
  // Bits of what is recorded.
  static constexpr unsigned kData = 1, kKernels = 2, kAll = kData | kKernels;
  // Of native records, which are not recorded unless the tool asks: ompt_native_overhead, ompt_native_idleness.
  static constexpr unsigned kOverhead = 0x40, kIdleness = 0x80, kNative = kOverhead | kIdleness;

  void enter();
  // Gives back what is recorded. False: it was not there.
  [[nodiscard]] bool leave();
  // In the only thread of a fork, or of a process without a tool: what is recorded is the parent's.
  void forget();

  void enable(unsigned what, bool on);
  // False: there is one already, there are no callbacks, or the tool has heard of the device's end.
  [[nodiscard]] bool start(ompt::BufferRequest request, ompt::BufferComplete complete);
  // False: there is none.
  [[nodiscard]] bool pause(bool begin);
  // These two return when callbacks that are under way have returned.
  [[nodiscard]] bool flush();
  [[nodiscard]] bool stop();

  void add(const ompt::Record& record);

  // Around a fork.
  static void lock_all();
  static void unlock_all();

 private:
  struct Buffer {
    char* begin = nullptr;
    size_t bytes = 0;
    size_t first = 0;  // the first record's place
    size_t used = 0;
  };

  // All of them with the lock held.
  [[nodiscard]] int number() const;
  void end();
  // False: the calling thread has it, and is in a callback. Leaves the lock while it waits.
  [[nodiscard]] bool take_turn();
  void end_turn();
  [[nodiscard]] bool has_room() const;
  // These have the turn, and leave the lock while they call the tool; but renew takes the turn itself.
  void hand_over(ompt::BufferComplete call, char* buffer, size_t bytes, uint64_t first);
  void give_back();
  void ask_for_buffer();
  [[nodiscard]] bool renew();

  SpinLock lock_;       // over all of these
  bool there_ = false;  // between device_begin and device_end
  bool running_ = false;
  bool paused_ = false;
  unsigned what_ = kAll;
  unsigned starts_ = 0;
  const void* turn_ = nullptr;  // the thread that calls the tool
  ompt::BufferRequest request_ = nullptr;
  ompt::BufferComplete complete_ = nullptr;
  Buffer buffer_;
};

extern DeviceTrace g_device_traces[kMaxDevices];

// The functions that a tool looks up for a device.
ompt::Function device_inquiry(const char* name);

}  // namespace marline::tool
