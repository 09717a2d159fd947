// SPDX-License-Identifier: Apache-2.0
//
// In a device's process: tells in which target region it ends, when a signal or a call of exit ends it. Any thread,
// with no lock.
#pragma once

#include "device/processor/crash/crash_report.hpp"

namespace marline::offload::device {

// An end, with the words of the kernel that it is in; those are 0 if it is in none.
struct EndInKernel : ProcessEnd {
  uint64_t entry;
  uint64_t kernel_place;
};

// Once, before the first kernel. `tell` is called by the handler that ends the process, at most once, and may end it
// itself.
void note_ends(void (*tell)(const EndInKernel& end));

// Around a kernel, on the thread that calls it. The words are what `tell` gets.
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

}  // namespace marline::offload::device
