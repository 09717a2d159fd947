// SPDX-License-Identifier: Apache-2.0
//
// The environment variables for a recording, except its folder: read once, when recording starts.
#ifndef MARLINE_TRACE_OPTIONS_HPP
#define MARLINE_TRACE_OPTIONS_HPP

#include <stdint.h>
#include <stdio.h>

namespace marline::trace {

constexpr int kMostCounters = 16;
constexpr int kCounterBytes = 128;  // of a name, with its end

struct CounterNames {
  int count;
  char text[kMostCounters][kCounterBytes];
};

// Ranks as MARLINE_TRACE_RANKS lists them: single ones and ranges, each of which may take every k-th only.
struct RankList {
  static constexpr int kMostParts = 64;
  struct Part {
    int first, last, step;
  };

  int count;  // 0: all ranks
  Part parts[kMostParts];

  bool contains(int rank) const {
    bool found = count == 0;
    for (int i = 0; i < count && !found; ++i) {
      const Part& part = parts[i];
      found = rank >= part.first && rank <= part.last && (rank - part.first) % part.step == 0;
    }
    return found;
  }
};

struct Options {
  unsigned events;        // MARLINE_TRACE_EVENTS=WORD,WORD...: bits of Events (kinds.hpp); default: all
  bool begin_off;         // MARLINE_TRACE_START=off: records from the first "on" that the program asks for
  uint64_t limit;         // MARLINE_TRACE_LIMIT=SIZE: bytes of records per process; 0: none
  RankList ranks;         // MARLINE_TRACE_RANKS=LIST
  unsigned sample_hz;     // MARLINE_TRACE_SAMPLE=HZ: samples of a second of CPU time; 0: none
  uint64_t ring;          // MARLINE_TRACE_RING=SIZE: bytes of the process's ring (ring.hpp); 0: none, all is kept
  int signal;             // MARLINE_TRACE_SIGNAL=USR1: at which the ring is copied (signal/on_signal.hpp); 0: none
  bool aggregate;         // MARLINE_TRACE_AGGREGATE=on: sums, and no records (sums/sums.hpp)
  CounterNames counters;  // MARLINE_TRACE_COUNTERS=NAME,NAME...: what each thread counts; default: nothing
};

// Ends the program with exit code 2 if a value cannot be used: without its trace, the run would be in vain.
void read_options(Options& options);

// The words of MARLINE_TRACE_EVENTS that the bits stand for, as the inside of a JSON array.
void write_event_words(FILE* out, unsigned events);

}  // namespace marline::trace

#endif
