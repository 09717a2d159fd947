// SPDX-License-Identifier: Apache-2.0
//
// The part of the recorder that exists once per process. `process` holds the content of the JSON file, under
// process_lock. Data that every thread reads (state, switch_count, the wanted events) is atomic, or constant once
// recording has started. Recording an event runs nothing here. Order of locks: process_lock, then the lock of the list
// of streams; stop_recording, which may be called under either, takes none.
#include "base/recorder.hpp"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/environment.h"
#include "../common/launchers.h"
#include "../common/options.hpp"
#include "base/clock.hpp"
#include "base/machine.hpp"
#include "base/metadata.hpp"
#include "base/options.hpp"
#include "base/process.hpp"
#include "base/ring.hpp"
#include "file/container.hpp"
#include "file/error_text.hpp"
#include "file/no_cancel.hpp"
#include "file/record.hpp"

namespace marline::trace {

uint64_t switch_count;
pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
Metadata process;
bool rank_known;

namespace {

constexpr char kEmptyFolder[] = "set MARLINE_TRACE_DIR to an empty folder that every rank can write";

// Read by any thread. Written under process_lock, but for transition_to_ended, which any thread does.
State state = kIdle;
char directory[kPathBytes - 128];
uint64_t switch_times[2];  // last switch on and off; written before the count; readers need them only roughly
uint64_t off_cycles;       // for how long recording was off, until it was switched on last
uint64_t bytes_written;
void (*hand_over_events)();  // written before there are other threads; or null

State load_state() { return __atomic_load_n(&state, __ATOMIC_RELAXED); }

}  // namespace

void store_state(State value) { __atomic_store_n(&state, value, __ATOMIC_RELAXED); }

bool transition_to_ended() {
  State before = load_state();
  return (before == kRecording || before == kAggregating) &&
         __atomic_compare_exchange_n(&state, &before, kEnded, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void switch_recording(bool off) {
  uint64_t count = load_switches();
  while (is_off(count) != off) {
    const uint64_t now = read_cycles();
    __atomic_store_n(&switch_times[off ? 1 : 0], now, __ATOMIC_RELAXED);
    // Before the switch: who sees the new count must not see the old sum, or the pause would count as recorded.
    const uint64_t pause = off ? 0 : now - __atomic_load_n(&switch_times[1], __ATOMIC_RELAXED);
    __atomic_fetch_add(&off_cycles, pause, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&switch_count, &count, count + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      return;
    }
    __atomic_fetch_sub(&off_cycles, pause, __ATOMIC_RELAXED);
  }
}

uint64_t recorded_time(uint64_t cycles) {
  // Pairs with the release in switch_recording.
  const uint64_t count = __atomic_load_n(&switch_count, __ATOMIC_ACQUIRE);
  const uint64_t off = __atomic_load_n(&off_cycles, __ATOMIC_RELAXED);
  if (!is_off(count)) return cycles - off;
  const uint64_t since = switched_at(count);
  return (cycles < since ? cycles : since) - off;
}

bool write_locked(bool with_more) {
  char path[kPathBytes];
  trace_path(path, ".json");
  process.clock_end = read_clock_pair();
  const bool written = process.write(path, with_more);
  if (!written) {
    fprintf(stderr, "marline-trace: cannot write %s: %s\n", path, strerror(errno));
  }
  return written;
}

bool trace_exists() {
  char path[kPathBytes];
  trace_path(path, ".json");
  if (access(path, F_OK) != 0) {
    return false;
  }
  fprintf(stderr, "marline-trace: %s: %s; nothing is recorded: %s\n", path, strerror(EEXIST), kEmptyFolder);
  return true;
}

namespace {

// As its launcher numbers it, before MPI_Init.
bool rank_from_environment(int& rank) {
  for (const LauncherRank& launcher : launcher_ranks) {
    const char* value = trusted_variable(launcher.rank);
    if (value != nullptr && *value != '\0') {
      rank = atoi(value);
      return true;
    }
  }
  return false;
}

void forget_after_fork() {
  store_state(kNever);
  pthread_mutex_init(&process_lock, nullptr);
}

// Whether this process is a worker process, which is a device of a program and never runs the program's main
// (offload/registry/registry.cpp). It has a job number other than 0 (offload/wire/base/job.hpp), and MARLINE_JOB_TAKEN
// is not set, which marks programs that inherit these variables without being part of the job. A worker process writes
// no trace, because the program's process records what its devices do.
bool is_worker() {
  const char* number = trusted_variable("MARLINE_JOB_NUMBER");
  return number != nullptr && strcmp(number, "0") != 0 && trusted_variable("MARLINE_JOB_TAKEN") == nullptr;
}

// Leaves the reason in errno.
bool is_writable_folder(const char* path) {
  struct stat found;
  if (stat(path, &found) != 0) return false;
  if (!S_ISDIR(found.st_mode)) {
    errno = ENOTDIR;
    return false;
  }
  return access(path, W_OK | X_OK) == 0;
}

[[noreturn]] void refuse_folder(const char* wanted, const char* reason) {
  char accepted[128];
  snprintf(accepted, sizeof accepted, "a folder that can be made and written (%s)", reason);
  refuse_option("MARLINE_TRACE_DIR", wanted, accepted);
}

bool open_trace() {
  const char* wanted = trusted_variable("MARLINE_TRACE_DIR");
  if (wanted == nullptr || *wanted == '\0' || is_worker()) {
    return false;
  }
  // Makes the path absolute, because the program may change its folder. Makes the folder itself; its parent must exist.
  char* absolute = mkdir(wanted, 0700) == 0 || errno == EEXIST ? realpath(wanted, nullptr) : nullptr;
  if (absolute == nullptr || !is_writable_folder(absolute)) refuse_folder(wanted, strerror(errno));
  if (strlen(absolute) >= sizeof directory) refuse_folder(wanted, "its path is too long");
  strcpy(directory, absolute);
  free(absolute);
  rank_known = rank_from_environment(process.rank);
#ifdef MARLINE_TRACE_MPI
  if (!rank_known) {
    snprintf(process.tag, sizeof process.tag, "pid%d", getpid());
    return true;
  }
#endif
  snprintf(process.tag, sizeof process.tag, "rank%04d", process.rank);
  return true;
}

// Writes the JSON file for the first time: a killed program leaves only this file and its records.
bool begin_metadata() {
  if (trace_exists()) {
    return false;
  }
  begin_machine();
  char path[kPathBytes];
  container_name(process.file);
  snprintf(path, sizeof path, "%s/%s", directory, process.file);
  if (!process.options.aggregate && !open_container(path)) refuse_folder(directory, strerror(errno));
  process.clock_begin = read_clock_pair();
  usleep(2000);  // so that this version of the file, too, gives the counter's frequency
  process.clock_end = read_clock_pair();
  // The ring first: a description that names one that is not there makes the whole trace unreadable.
  trace_path(path, ".ring");
  if (process.options.ring != 0 && !process.left_out && !begin_ring(path, process.options.ring)) {
    fprintf(stderr,
            "marline-trace: cannot make the ring of %" PRIu64
            " bytes in %s: %s; nothing is recorded: free space, or set "
            "a smaller MARLINE_TRACE_RING\n",
            process.options.ring, directory, strerror(errno));
    return false;
  }
  trace_path(path, ".json");
  if (!process.write(path, false)) refuse_folder(directory, strerror(errno));
  snprintf(path, sizeof path, "%s/events.%016" PRIx64 ".def", directory, kFingerprint);
  if (!process.options.aggregate && !process.write_table(path)) refuse_folder(directory, strerror(errno));
  return true;
}

}  // namespace

bool recording() { return load_state() == kRecording; }
bool aggregating() { return load_state() == kAggregating; }

bool described() {
  const State now = load_state();
  return now == kRecording || now == kAggregating || now == kEnded || now == kDescribed;
}

bool start_recording() {
  if (load_state() != kIdle) {
    return recording();
  }
  const NoCancel no_cancel;
  pthread_mutex_lock(&process_lock);
  if (state == kIdle) {
    const bool opened = open_trace();
    if (opened) read_options(process.options);
    // Where only MPI knows the rank, set_mpi decides.
    process.left_out = opened && rank_known && !process.options.ranks.contains(process.rank);
    const bool begun = opened && begin_metadata();
    if (begun) {
      pthread_atfork(nullptr, nullptr, forget_after_fork);
      switch_recording(process.options.begin_off);
    }
    const State begins = process.options.aggregate ? kAggregating : kRecording;
    store_state(!begun ? kNever : process.left_out ? kDescribed : begins);
  }
  pthread_mutex_unlock(&process_lock);
  return recording();
}

bool wanted(Events events) { return (process.options.events & events) != 0; }
const CounterNames& wanted_counters() { return process.options.counters; }

uint64_t switched_at(uint64_t switches) {
  return __atomic_load_n(&switch_times[is_off(switches) ? 1 : 0], __ATOMIC_RELAXED);
}

void before_control(void (*hand_over)()) { hand_over_events = hand_over; }

void control_recording(Control what) {
  if (!recording() && !aggregating()) {
    return;
  }
  if (hand_over_events != nullptr) {
    hand_over_events();
  }
  switch (what) {
    case Control::kOn: switch_recording(false); break;
    case Control::kOff: switch_recording(true); break;
    case Control::kFlush: write_metadata(); break;
    case Control::kEnd:
      switch_recording(true);
      if (transition_to_ended()) write_metadata();
      break;
  }
}

void control_recording_by_level(int level) {
  if (level >= 0) {
    control_recording(level == 0 ? Control::kOff : level == 1 ? Control::kOn : Control::kFlush);
  }
}

void stop_recording(const char* what, const char* value, const char* advice) {
  if (!transition_to_ended()) return;
  // Not by stdio, and not on the stack: a signal handler comes here, too, if a sample finds the disk full. Written
  // once, as the state changes once.
  static constinit ShortText<512> reason;
  static constinit ShortText<1024> line;
  reason.add(what).add(": ").add(value);
  __atomic_store_n(&process.stopped, reason.text(), __ATOMIC_RELEASE);
  switch_recording(true);
  line.add("marline-trace: ").add(reason.text()).add("; recording stops: ").add(advice).add("\n");
  if (write(STDERR_FILENO, line.text(), line.length()) < 0) return;  // stderr is closed: the line is lost
}

bool count_bytes(uint64_t bytes) {
  const uint64_t limit = process.options.limit;
  if (limit == 0 || __atomic_add_fetch(&bytes_written, bytes, __ATOMIC_RELAXED) <= limit) {
    return true;
  }
  const ShortText<48> value = ShortText<48>().add(limit).add(" bytes written");
  stop_recording("MARLINE_TRACE_LIMIT", value.text(),
                 "raise it, record fewer MARLINE_TRACE_EVENTS, or a part of the run");
  return false;
}

void trace_path(char (&path)[kPathBytes], const char* suffix) {
  snprintf(path, sizeof path, "%s/%s%s", directory, process.tag, suffix);
}

void set_runtime(const char* version, unsigned omp_version) {
  pthread_mutex_lock(&process_lock);
  snprintf(process.runtime, sizeof process.runtime, "%s", version);
  process.omp_version = omp_version;
  pthread_mutex_unlock(&process_lock);
}

void set_counters(const marline_counters_t& counters) {
  pthread_mutex_lock(&process_lock);
  process.counters = counters;
  pthread_mutex_unlock(&process_lock);
}

void add_clock_sample(const ClockSample& sample) {
  pthread_mutex_lock(&process_lock);
  if (process.sample_count < Metadata::kMostSamples) {
    process.samples[process.sample_count++] = sample;
  }
  pthread_mutex_unlock(&process_lock);
}

void write_metadata() {
  if (!described()) {
    return;
  }
  const NoCancel no_cancel;
  pthread_mutex_lock(&process_lock);
  write_locked(true);
  pthread_mutex_unlock(&process_lock);
}

}  // namespace marline::trace
