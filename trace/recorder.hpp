// SPDX-License-Identifier: Apache-2.0
//
// The process's side of the recorder: where the trace goes, which rank this is, and the JSON file that says what the
// streams cannot (program, machine, clocks, where code was loaded). That file is written when recording starts and
// again when it ends, each time whole and then renamed into place, so a killed program leaves the first version.
#ifndef MARLINE_TRACE_RECORDER_HPP
#define MARLINE_TRACE_RECORDER_HPP

#include <stdint.h>

namespace marline::trace {

constexpr int kPathBytes = 4096;
constexpr int kTagBytes = 32;

// True while events are to be recorded. Any thread.
bool recording();

// Starts recording if MARLINE_TRACE_DIR says where to and it has not started yet. Any thread; later calls do nothing.
bool start_recording();

// Ends recording with one line on stderr that says why; what has been written stays.
void stop_recording(const char *what, const char *value, const char *advice);

// The path of this process's file with that suffix: DIR/rank0003<suffix>.
void trace_path(char (&path)[kPathBytes], const char *suffix);

// What ompt_start_tool learned.
void set_runtime(const char *version, unsigned omp_version);

// What MPI_Init learned: renames the files if the environment had not told the rank.
void set_mpi(int rank, int size, const char *library);

// One exchange of clock readings with rank 0: this rank read `local` between rank 0's `sent` and `received`.
struct ClockSample {
  uint64_t local;
  uint64_t sent;
  uint64_t received;
};
void add_clock_sample(const ClockSample &sample);

// (Re)writes the JSON file.
void write_metadata();

}  // namespace marline::trace

#endif
