// SPDX-License-Identifier: Apache-2.0
//
// Writes the message that a device's process has ended before the program has. The program or the process itself
// writes it.
#pragma once

#include <cstdint>

namespace marline::offload::device {

// How a process has ended, and in which target region.
struct ProcessEnd {
  static constexpr int kExitCalled = -1, kQuickExitCalled = -2;
  static constexpr int kStackText = 480;  // characters; more frames are cut

  int cause;          // a signal, or one of the constants above; 0: not known
  int running;        // how many kernels ran then; if several, name and place may be null: not known
  bool at_address;    // `value` is the address that a signal is about
  uint64_t value;     // else the status of exit
  const char* name;   // the name of the region, or null
  const char* place;  // where the region is in the source: the text of Clang's ident_t, or null
  const char* stack;  // of the crashed thread (crash_stack.hpp); "": not known
};

// Ends the calling process with a message and the status that fits. `device`: "device 1 (process)". A signal handler
// may call it: it allocates nothing.
[[noreturn]] void report_end(const char* device, const ProcessEnd& end);

}  // namespace marline::offload::device
