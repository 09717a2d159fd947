// SPDX-License-Identifier: Apache-2.0
//
// The part of the recorder that exists once per process: the trace's folder, the rank, and the JSON file with the data
// that is not in the streams (program, machine, clocks, addresses of code). The JSON file is written when recording
// starts and again when it ends. Each time it is written completely and then renamed, so a killed program leaves the
// first version.
#ifndef MARLINE_TRACE_RECORDER_HPP
#define MARLINE_TRACE_RECORDER_HPP

#include <stdint.h>

#include "base/clock.hpp"
#include "file/file_names.hpp"
#include "base/kinds.hpp"
#include "marline/marline.h"

namespace marline::trace {

struct CounterNames;

// True while there is a trace to record into, even while recording is off. Any thread.
bool recording();

// True while sums are kept and no records (sums/sums.hpp), even while recording is off. Any thread.
bool aggregating();

// True while this process has a description in the trace, even if it records nothing. Any thread.
bool described();

// Whether events of this kind are recorded. Constant once recording has started.
bool wanted(Events events);
// What each thread counts (options.hpp). Constant, too.
const CounterNames& wanted_counters();

// What the program asks for at run time (omp_control_tool, MPI_Pcontrol, marline/trace.h). Off and on may alternate at
// will; flush brings the JSON file up to date (records need no flush: they are in the file at once); after the end
// nothing is recorded any more. Any thread.
enum class Control { kOn, kOff, kFlush, kEnd };
void control_recording(Control what);
// Sets the function that delivers events which the runtime still keeps (devices.cpp). It is called before each of these
// controls, so that each event meets the state of recording at which it happened. Called while the tool starts.
void before_control(void (*hand_over)());
// The same by the level of MPI_Pcontrol (MPI 4.1, section 15.2): 0 off, 1 on, 2 and more flush; a negative level does
// nothing.
void control_recording_by_level(int level);

// How many times recording was switched; odd while it is off. Every event of every thread reads it. A plain load: a
// thread that sees a switch late records a few events more or less.
extern uint64_t switch_count;
inline uint64_t load_switches() { return __atomic_load_n(&switch_count, __ATOMIC_RELAXED); }
inline bool is_off(uint64_t switches) { return (switches & 1) != 0; }
// The time of the switch that led to this count, or of the next switch of the same kind.
uint64_t switched_at(uint64_t switches);
// A moment by a clock that stands still while recording is off. A little earlier than a moment before, at most, while
// recording is being switched.
uint64_t recorded_time(uint64_t cycles);

// Starts recording if MARLINE_TRACE_DIR names a folder and recording has not started yet. Any thread; later calls do
// nothing. True if there are records from now on.
bool start_recording();

// Counts bytes that have been appended to the node's file. Returns false if the sum exceeds MARLINE_TRACE_LIMIT:
// recording has then stopped.
bool count_bytes(uint64_t bytes);

// Ends recording, and reports the reason with one line on stderr; what has been written stays. Async-signal-safe; so
// are `value`s from error_text.hpp.
void stop_recording(const char* what, const char* value, const char* advice);

// The path of this process's file with that suffix: DIR/rank0003<suffix>.
void trace_path(char (&path)[kPathBytes], const char* suffix);

// Stores what ompt_start_tool learned.
void set_runtime(const char* version, unsigned omp_version);

// Stores what the runtime has counted (marline.h), at the end of the run.
void set_counters(const marline_counters_t& counters);

void add_clock_sample(const ClockSample& sample);

// (Re)writes the JSON file.
void write_metadata();

}  // namespace marline::trace

#endif
