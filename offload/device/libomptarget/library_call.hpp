// SPDX-License-Identifier: Apache-2.0
//
// Records which construct a thread is executing in libomptarget. If a construct fails there (no memory for a map, a
// copy, a launch, a kernel), libomptarget writes a line and calls abort instead of returning a code, whatever
// OMP_TARGET_OFFLOAD says. So a handler of SIGABRT adds a line that names the construct, its place and the device. The
// program then ends as it would have without the handler. Each thread has a record of its own.
#pragma once

#include "device/contract/device.hpp"

#include <signal.h>

namespace marline::offload::device {

// A construct. All members except the device point to constant storage.
struct Doing {
  const Device* device = nullptr;
  const char* what = nullptr;    // "target", "target update", ...
  const void* region = nullptr;  // the id of a target region
  const char* place = nullptr;   // the ident's text, as in Launch
  const void* code = nullptr;    // the program's call; or null
  size_t bytes = 0;              // how many bytes it maps
};

// Writes "target update at FILE:LINE", or as much of that as is known.
void describe_construct(const Doing& doing, char* to, size_t bytes);

// The scope in which the calling thread executes the construct in libomptarget. Does not suspend.
class LibraryCall {
 public:
  LibraryCall(const Doing& doing, bool asks_for_end);
  ~LibraryCall();

  // The construct of the calling thread; null: the thread is not in libomptarget.
  [[nodiscard]] static const Doing* here();

  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  friend void notify_abort(int, siginfo_t* info, void*);
  const Doing& doing_;
  bool asks_for_end_;
};

// Installs the handler, once. If the program handles SIGABRT itself, its handler stays, and the line is not written.
void notify_aborts();

}  // namespace marline::offload::device
