// SPDX-License-Identifier: Apache-2.0
//
// The trace of one device: buffers of the tool's that are filled with records, one at a time. A cursor is a record's
// place in bytes. What is left of a buffer behind the last record begins with an empty one.
#pragma once

#include "base/spin_lock.hpp"
#include "tool/tool.hpp"

namespace marline::tool {

inline constexpr int kMaxDevices = 256;  // with higher numbers: no events

class DeviceTrace {
 public:
  // Bits of what is recorded.
  static constexpr unsigned kData = 1, kKernels = 2, kAll = kData | kKernels;

  void enter();
  // Gives back what is recorded. False: it was not there.
  [[nodiscard]] bool leave();
  void forget();

  void enable(unsigned what, bool on);
  // False: there is one already, or there are no callbacks.
  [[nodiscard]] bool start(ompt::BufferRequest request, ompt::BufferComplete complete);
  // False: there is none.
  [[nodiscard]] bool pause(bool begin);
  [[nodiscard]] bool flush();
  [[nodiscard]] bool stop();

  void add(const ompt::Record& record);

 private:
  [[nodiscard]] int number() const;
  void give_back();
  [[nodiscard]] ompt::Record* room();

  SpinLock lock_;              // over all of these but there_
  Atomic<bool> there_{false};  // written by device_begin and device_end
  unsigned what_ = kAll;
  bool running_ = false;
  bool paused_ = false;
  ompt::BufferRequest request_ = nullptr;
  ompt::BufferComplete complete_ = nullptr;
  char* buffer_ = nullptr;
  size_t bytes_ = 0;
  size_t first_ = 0;  // the first record's place
  size_t used_ = 0;
};

extern DeviceTrace g_device_traces[kMaxDevices];

// The functions that a tool looks up for a device.
ompt::Function device_inquiry(const char* name);

}  // namespace marline::tool
