// SPDX-License-Identifier: Apache-2.0
//
// Kernels that end before other threads have begun. A process that serves devices may share its cores with the program,
// which waits for it, and with others of its kind. A thread that is called then begins some microseconds later, while a
// small kernel takes one thread less than that. So the runtime measures: where a kernel was short many times in a row,
// it runs some times with one thread, and goes on so as long as that takes less time.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace marline {

// Of one kernel. Threads that run it at the same time may lose each other's notes, which only delays the decision: all
// is relaxed, and orders nothing.
class KernelTimes {
 public:
  // Whether the next run is to have one thread where the program asks for no number of threads.
  [[nodiscard]] bool begin(uint64_t kernel);

  // What the run took. `alone`: what `begin` said of it.
  void end(bool alone, uint64_t nanoseconds);

 private:
  static constexpr uint64_t kShort = 20 * 1000;  // ns
  static constexpr uint32_t kFirstRuns = 16;     // short ones in a row, before the first trial
  static constexpr uint32_t kMostRuns = 4096;    // before another trial; and alone, before threads are tried anew
  static constexpr uint32_t kTrial = 8;          // runs alone, after each of which both ways are compared

  void note_with_threads(uint64_t nanoseconds);
  void note_alone(uint64_t nanoseconds);
  void begin_anew(uint32_t needed);

  Atomic<uint64_t> kernel_{0};
  Atomic<uint32_t> short_runs_{0};       // in a row, with threads
  Atomic<uint32_t> needed_{kFirstRuns};  // of these before a trial: four times as many when that took longer
  Atomic<uint32_t> runs_alone_{0};
  Atomic<uint64_t> with_threads_{0}, alone_{0};  // ns, moving averages
};

// Those of a kernel, by its address, which is not 0. Any thread.
[[nodiscard]] KernelTimes& times_of_kernel(uint64_t kernel);

}  // namespace marline
