// SPDX-License-Identifier: Apache-2.0
//
// The memory of the process over time: how much is resident, and on which NUMA nodes it lies. A thread that comes by
// records it if a tenth of a second has passed since the last time, or a hundred times as long as that took: so it
// costs a hundredth of one thread's time at most. Any thread; one at a time.
#ifndef MARLINE_TRACE_MEMORY_HPP
#define MARLINE_TRACE_MEMORY_HPP

namespace marline::trace {

class Stream;

// Called before the others: by the runtime's start, or MPI's.
void begin_memory();

// Records the memory if it is time. Called where every program comes by now and then: a full window of records, the end
// of a parallel region.
void record_memory_in_turn(Stream& stream);

// Records it in any case: the program is about to end.
void record_memory(Stream& stream);

}  // namespace marline::trace

#endif
