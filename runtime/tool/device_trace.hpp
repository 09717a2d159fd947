// SPDX-License-Identifier: Apache-2.0
//
// The trace of one device: fills buffers of the tool with records, one buffer at a time. A cursor is the offset of a
// record in bytes. If a buffer has room after its last record, an empty record follows there.
//
// The tool is called without the lock, so its callbacks may take locks that are held around the functions here. The
// thread that calls the tool has the turn, and the trace has no buffer until the turn ends. Threads that need a buffer
// wait for the end of the turn, and so do flush and stop. If a callback calls flush or stop, these have no buffer to
// give back, and do not wait.
#pragma once

#include "base/spin_lock.hpp"
#include "tool/tool.hpp"

namespace marline::tool {

inline constexpr int kMaxDevices = 256;  // devices with higher numbers have no events

class DeviceTrace {
 public:
  // Bits for the kinds of records.
  static constexpr unsigned kData = 1, kKernels = 2, kAll = kData | kKernels;
  // Native records, which are recorded only if the tool asks for them: ompt_native_overhead, ompt_native_idleness.
  static constexpr unsigned kOverhead = 0x40, kIdleness = 0x80, kNative = kOverhead | kIdleness;

  // The device begins.
  void enter();
  // The device ends: gives its records back. False: the device had not begun.
  [[nodiscard]] bool leave();
  // Called by the only thread of a forked process, or in a process without a tool: drops the records, which are the
  // parent's.
  void forget();

  void enable(unsigned what, bool on);
  // False: a trace is running already, a callback is missing, or the tool has been notified of the device's end.
  [[nodiscard]] bool start(ompt::BufferRequest request, ompt::BufferComplete complete);
  // False: no trace is running.
  [[nodiscard]] bool pause(bool begin);
  // Both return after all callbacks that are under way have returned.
  [[nodiscard]] bool flush();
  [[nodiscard]] bool stop();

  void add(const ompt::Record& record);

  // Take and release the locks of all traces, around a fork.
  static void lock_all();
  static void unlock_all();

 private:
  struct Buffer {
    char* begin = nullptr;
    size_t bytes = 0;
    size_t first = 0;  // offset of the first record
    size_t used = 0;
  };

  // Call all of these with the lock held.
  [[nodiscard]] int number() const;
  void end();
  // Waits until no other thread calls the tool, and takes the turn. False: the calling thread has the turn already, and
  // is in a callback. Releases the lock while it waits.
  [[nodiscard]] bool take_turn();
  void end_turn();
  [[nodiscard]] bool has_room() const;
  // The caller has the turn, except for renew, which takes it. Each function releases the lock while it calls the tool.
  void hand_over(ompt::BufferComplete call, char* buffer, size_t bytes, uint64_t first);
  void give_back();
  void ask_for_buffer();
  [[nodiscard]] bool renew();

  SpinLock lock_;       // guards the members below
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
