// SPDX-License-Identifier: Apache-2.0
//
// Decides which kernels run with one thread because they end before other threads have started. A worker process that
// serves devices may share its cores with the program, which waits for it, and with other worker processes. Then a
// thread starts some microseconds after it is woken, and a small kernel takes less time than that with one thread. So
// the runtime measures: a kernel that was short many times in a row runs some times with one thread, and continues so
// as long as that takes less time.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace marline {

// The run times of one kernel. Threads that run it at the same time may overwrite each other's notes, which only delays
// the decision: all accesses are relaxed and order nothing.
class KernelTimes {
 public:
  // Whether the next run should have one thread if the program asks for no number of threads.
  [[nodiscard]] bool begin(uint64_t kernel);

  // Notes how long the run took. `alone`: what `begin` returned for it.
  void end(bool alone, uint64_t nanoseconds);

 private:
  static constexpr uint64_t kShort = 20 * 1000;  // ns; a run that takes longer is not short
  static constexpr uint32_t kFirstRuns = 16;     // short runs in a row before the first trial
  // Most short runs before another trial; and runs alone before threads are tried again.
  static constexpr uint32_t kMostRuns = 4096;
  static constexpr uint32_t kTrial = 8;  // runs alone, after which both ways are compared, again and again

  void note_with_threads(uint64_t nanoseconds);
  void note_alone(uint64_t nanoseconds);
  void begin_anew(uint32_t needed);

  Atomic<uint64_t> kernel_{0};
  Atomic<uint32_t> short_runs_{0};       // in a row, with threads
  Atomic<uint32_t> needed_{kFirstRuns};  // short runs before a trial; four times as many after a trial that took longer
  Atomic<uint32_t> runs_alone_{0};
  Atomic<uint64_t> with_threads_{0}, alone_{0};  // ns, moving averages
};

// The times of the kernel with this address, which is not 0. Any thread.
[[nodiscard]] KernelTimes& times_of_kernel(uint64_t kernel);

}  // namespace marline
