// SPDX-License-Identifier: Apache-2.0
//
// In a device's process: notes in which target region it ends, when a signal or a call of exit ends it. Any thread, with
// no lock: the program reads the note when the process is gone (process.cpp).
#pragma once

#include "device/channel.hpp"

namespace marline::target {

// Once, before the first kernel.
void note_ends(Channel* channel);

// Around a kernel, on the thread that calls it.
class RunningKernel {
 public:
  RunningKernel(uint64_t entry, uint64_t place);
  ~RunningKernel();
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;

 private:
  int slot_;
  int outer_;  // the slot of the kernel that the thread ran before
};

}  // namespace marline::target
