// SPDX-License-Identifier: Apache-2.0
//
// What a thread lets libomptarget do. When a construct fails there (no memory for a map, a copy, a launch, a kernel),
// the library writes a line and calls abort, whatever OMP_TARGET_OFFLOAD says, and returns no code. So a handler of
// SIGABRT adds which construct that was, where, and on which device; the program ends as it would have. Each thread its
// own.
#pragma once

#include "device/contract/device.hpp"

#include <signal.h>

namespace marline::offload::device {

// A construct. All but the device is constant storage.
struct Doing {
  const Device* device = nullptr;
  const char* what = nullptr;    // "target", "target update", ...
  const void* region = nullptr;  // the id of a target region
  const char* place = nullptr;   // the ident's text, as in Launch
  const void* code = nullptr;    // the program's call; or null
  size_t bytes = 0;              // that it maps
};

// "target update at FILE:LINE", or what there is instead.
void describe_construct(const Doing& doing, char* to, size_t bytes);

// The scope in which the calling thread is in libomptarget for it. Does not suspend.
class LibraryCall {
 public:
  LibraryCall(const Doing& doing, bool asks_for_end);
  ~LibraryCall();

  // What the calling thread does there; null: it is not in libomptarget.
  [[nodiscard]] static const Doing* here();

  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  friend void tell_of_abort(int, siginfo_t* info, void*);
  const Doing& doing_;
  bool asks_for_end_;
};

// Once. A program that handles SIGABRT itself keeps its handler, and gets no such line.
void tell_of_aborts();

}  // namespace marline::offload::device
