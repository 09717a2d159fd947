// SPDX-License-Identifier: Apache-2.0
//
// What a worker does, for `marline ps`: its report has a part "worker" with the kernels that run or wait for a thread,
// and the copies to and from other processes. A kernel lies in a list by its own storage, from its arrival to its end.
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::device {

struct SeenKernel {
  SeenKernel* next;
  SeenKernel* previous;
  const char* region;           // static storage
  uint64_t place;               // an offset in the program's file (image/program.hpp); 0: not known
  uint64_t arrived;             // tell.hpp, now
  std::atomic<uint64_t> begun;  // 0: it waits for a thread; written by its thread
};

// A kernel has come, begins, has ended.
void see_arrival(SeenKernel* kernel, const char* region, uint64_t place);
void see_begin(SeenKernel* kernel);
void see_end(SeenKernel* kernel);

// Of a copy: whether it takes so long that it is to be seen. To count the others would take a tenth of their time.
[[nodiscard]] inline bool is_seen(uint64_t bytes) { return bytes > 4096; }
// Data begins to leave or to come, or (negative) has done so.
void see_sending(int64_t copies, int64_t bytes);
void see_arriving(int64_t copies, int64_t bytes);

// Registers the part; once. `device`: its number, or -1 while no program has asked for it.
void show_work(int (*device)());

}  // namespace marline::offload::device
