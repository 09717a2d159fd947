// SPDX-License-Identifier: Apache-2.0
//
// In a device's process: reports in which target region the process ends, when a signal or a call of exit ends it. Any
// thread; takes no lock.
#pragma once

#include "device/processor/crash/crash_report.hpp"

namespace marline::offload::device {

// How the process ends, and in which kernel. `entry` and `kernel_place` are the values that the caller of RunningKernel
// has given for that kernel: they identify the kernel's entry and the region's place in the source, and are only passed
// on here. Both are 0 if no kernel runs, or if several run and it is not known which of them ends the process.
struct EndInKernel : ProcessEnd {
  uint64_t entry;
  uint64_t kernel_place;
};

// Installs handlers for signals that would end the process, and for exit. Called once, before the first kernel. The
// handler that ends the process first calls `tell`, the caller's function that reports the end. It is called at most
// once, and may end the process itself.
void note_ends(void (*report)(const EndInKernel& end));

// The scope in which a thread runs a kernel. If the process ends in this scope, `tell` gets `entry` and `place`.
class RunningKernel {
 public:
  RunningKernel(uint64_t entry, uint64_t place);
  ~RunningKernel();
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;

 private:
  int slot_;
  int outer_;  // the slot of the kernel that the thread was in before
};

}  // namespace marline::offload::device
