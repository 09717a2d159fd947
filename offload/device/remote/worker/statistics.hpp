// SPDX-License-Identifier: Apache-2.0
//
// Counts what a worker does, for `marline ps`. The worker's report has a part "worker" with the kernels that run or
// wait for a thread, and the copies to and from other processes. A kernel is in a list from its arrival to its end; the
// caller provides the storage of its element. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::device {

struct KernelStatistics {
  KernelStatistics* next;
  KernelStatistics* previous;
  const char* region;           // static storage
  uint64_t place;               // an offset in the program's file (image/program.hpp); 0: not known
  uint64_t arrived;             // base/now.hpp
  std::atomic<uint64_t> begun;  // written by the kernel's thread; 0: it waits for a thread
};

// A kernel has arrived, begins, has ended.
void see_arrival(KernelStatistics* kernel, const char* region, uint64_t place);
void see_begin(KernelStatistics* kernel);
void see_end(KernelStatistics* kernel);

// Whether a copy takes so long that it is counted. Counting shorter copies would take a tenth of their time.
[[nodiscard]] inline bool is_seen(uint64_t bytes) { return bytes > 4096; }
// Data begins to leave or to arrive; with negative numbers: it has left or arrived.
void see_sending(int64_t copies, int64_t bytes);
void see_arriving(int64_t copies, int64_t bytes);

// Registers the report's part; called once. `device`: returns the program's number of the only device that is started;
// -1: none is started yet, or several are.
void show_work(int (*device)());

}  // namespace marline::offload::device
