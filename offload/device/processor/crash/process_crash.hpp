// SPDX-License-Identifier: Apache-2.0
//
// In a device's process: reports in which target region the process ends, when a signal or a call of exit ends it. Any
// thread; takes no lock.
#pragma once

#include "device/processor/crash/crash_report.hpp"

namespace marline::offload::device {

// How the process ends, with the two words of the kernel in which it ends (RunningKernel). Both are 0 if no kernel
// runs, or if it is not known which one of several.
struct EndInKernel : ProcessEnd {
  uint64_t entry;
  uint64_t kernel_place;
};

// Called once, before the first kernel. The handler that ends the process calls `tell`, at most once; `tell` may end
// the process itself.
void note_ends(void (*tell)(const EndInKernel& end));

// The scope of a kernel, on the thread that calls it. `tell` gets the two words.
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
