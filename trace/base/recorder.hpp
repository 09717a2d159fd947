// SPDX-License-Identifier: Apache-2.0
//
// The part of the recorder that exists once per process: the trace's folder, the rank, and the JSON file with the data
// that is not in the streams (program, machine, clocks, addresses of code). This file is written when recording starts
// and again when it ends. Each time it is written completely and then renamed, so a killed program leaves the first
// version.
#ifndef MARLINE_TRACE_RECORDER_HPP
#define MARLINE_TRACE_RECORDER_HPP

#include <stdint.h>

#include "marline/marline.h"

namespace marline::trace {

constexpr int kPathBytes = 4096;
constexpr int kTagBytes = 32;

// True while there is a trace to record into, also while recording is off. Any thread.
bool recording();

// Kinds of event that can be left out (MARLINE_TRACE_EVENTS, options.hpp). Constant once recording has started.
enum Events : unsigned {
  kTaskEvents = 1 << 0,
  kDependenceEvents = 1 << 1,
  kSyncEvents = 1 << 2,
  kMutexEvents = 1 << 3,
  kWorkEvents = 1 << 4,
  kMpiEvents = 1 << 5,
  kRegionEvents = 1 << 6,
  kDeviceEvents = 1 << 7,
};
bool wanted(Events events);

// What the program asks for at run time (omp_control_tool, MPI_Pcontrol, marline/trace.h). Off and on may alternate at
// will; flush brings the JSON file up to date (records need no flush: they are in the file at once); after the end
// nothing is recorded any more. Any thread.
enum class Control { kOn, kOff, kFlush, kEnd };
void control_recording(Control what);
// What hands over the events that somebody else still keeps (devices.cpp): called before each of these, so that each
// event meets recording as it was when it happened. While the tool starts.
void before_control(void (*hand_over)());
// The same by the level of MPI_Pcontrol (MPI 4.1, section 15.2): 0 off, 1 on, 2 and more flush; negative: nothing.
void control_recording_by_level(int level);

// The number of times that recording was switched, read by every event of every thread; odd while it is off. A
// plain load: a thread that sees a switch late records a few events more or less.
extern uint64_t switch_count;
inline uint64_t load_switches() { return __atomic_load_n(&switch_count, __ATOMIC_RELAXED); }
inline bool is_off(uint64_t switches) { return (switches & 1) != 0; }
// When the switch was made that led to this count or to the next of its kind.
uint64_t switched_at(uint64_t switches);

// Starts recording if MARLINE_TRACE_DIR says where to and it has not started yet. Any thread; later calls do nothing.
bool start_recording();

// Counts what a thread appended to its file. False if that exceeds MARLINE_TRACE_LIMIT: recording has then stopped.
bool count_bytes(uint64_t bytes);

// Ends recording with one line on stderr that says why; what has been written stays.
void stop_recording(const char* what, const char* value, const char* advice);

// The path of this process's file with that suffix: DIR/rank0003<suffix>.
void trace_path(char (&path)[kPathBytes], const char* suffix);

// What ompt_start_tool learned.
void set_runtime(const char* version, unsigned omp_version);

// What MPI_Init learned: renames the files if the environment had not told the rank.
void set_mpi(int rank, int size, const char* library);

// What the runtime has counted (marline.h), at the end of the run.
void set_counters(const marline_counters_t& counters);

// One exchange of clock readings with rank 0: this rank read `local` between rank 0's `sent` and `received`.
struct ClockSample {
  uint64_t local;
  uint64_t sent;
  uint64_t received;
};
void add_clock_sample(const ClockSample& sample);

// (Re)writes the JSON file.
void write_metadata();

}  // namespace marline::trace

#endif
