// SPDX-License-Identifier: Apache-2.0
//
// The content of the JSON file of one process: program, machine, clocks, loaded code. Plain data, owned and locked by
// recorder.cpp.
#ifndef MARLINE_TRACE_METADATA_HPP
#define MARLINE_TRACE_METADATA_HPP

#include <stdio.h>

#include "base/clock.hpp"
#include "file/file_names.hpp"
#include "base/options.hpp"
#include "marline/marline.h"

namespace marline::trace {

struct Metadata {
  static constexpr int kMostSamples = 64;  // samples of the clock against rank 0's; the first ones are kept

  int rank;
  int size;       // 0: no MPI
  bool left_out;  // by MARLINE_TRACE_RANKS
  char tag[kTagBytes];
  char file[kContainerNameBytes];  // where its records are
  char runtime[256];
  unsigned omp_version;
  marline_counters_t counters;  // all zero: the runtime does not count, or no task has dependences
  char mpi[256];
  ClockPair clock_begin;
  ClockPair clock_end;
  ClockSample samples[kMostSamples];
  int sample_count;
  Options options;
  const char* stopped;  // why recording ended before the program did; or null. Atomic: any thread sets it, once

  // Writes the complete file under another name, then renames it to `path`; with what write_more writes, or without.
  // Returns false (and errno) on failure.
  bool write(const char* path, bool with_more) const;
  // The same for the event table, unless another process has written it.
  bool write_table(const char* path) const;
};

// Writes more members of the object, each followed by a comma; or null. Atomic: written once, any time.
extern void (*write_more)(FILE* out);

}  // namespace marline::trace

#endif
