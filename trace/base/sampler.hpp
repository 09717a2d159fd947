// SPDX-License-Identifier: Apache-2.0
//
// Samples of call stacks (MARLINE_TRACE_SAMPLE): a timer of each recorded thread's CPU time sends it a signal, whose
// handler stores the stack as records of the thread's own stream. A thread that sleeps costs nothing and has no
// samples. Without the option there is no timer, no handler and no memory for them.
#ifndef MARLINE_TRACE_SAMPLER_HPP
#define MARLINE_TRACE_SAMPLER_HPP

#include "unwind/memory.hpp"

namespace marline::trace {

// What the handler asks of the interrupted thread's stream. `write` is called only while it is open.
struct SampleWriter {
  enum class State { kOff, kBusy, kOpen };  // kBusy: no record can be written at this moment
  State (*state)();
  // `frames`: the innermost first. `weight`: ns of CPU time. `met_unknown_code`: refresh_loaded_code() should be called
  // soon, but not by a handler.
  void (*write)(const u64* frames, int count, u64 weight, bool met_unknown_code);
};

// The calling thread, which has a stream, begins or ends to be sampled. Do nothing if the option is off.
void begin_sampling(const SampleWriter& to);
void end_sampling();

}  // namespace marline::trace

#endif
