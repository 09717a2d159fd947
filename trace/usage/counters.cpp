// SPDX-License-Identifier: Apache-2.0
//
// See the header. `papi` and `codes` are written by open_counters, before any thread counts.
#include "usage/counters.hpp"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/environment.h"
#include "../common/options.hpp"
#include "base/options.hpp"
#include "kernel/papi.hpp"
#include "base/stream.hpp"

namespace marline::trace {
namespace {

constexpr char kOption[] = "MARLINE_TRACE_COUNTERS";
constexpr int kMostAllowed = 2;  // the greatest perf_event_paranoid at which users may count at all

// `point` of the event `counter` (events.def).
enum : u64 { kBegin = 1, kEnd = 2 };

Papi papi;
const CounterNames* names;  // null: nothing is counted
int codes[kMostCounters];

pthread_key_t exit_key;

struct ThreadCounters {
  int set;
  bool begun;         // the thread has tried to count
  bool runs;          // it counts
  bool last_round;    // of its exit
  uint64_t switches;  // load_switches() at the last values; odd: none yet
};
constinit thread_local ThreadCounters mine
    __attribute__((tls_model("initial-exec"))) = {Papi::kNoSet, false, false, false, 1};

// The kernel's limit for users without rights; -1 if it says none.
int paranoid() {
  int value = -1;
  FILE* in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
  if (in != nullptr) {
    if (fscanf(in, "%d", &value) != 1) value = -1;
    fclose(in);
  }
  return value;
}

// `event`: where in the option the event stands that PAPI does not count; null: all of them together.
[[noreturn]] void refuse(int error, const char* event) {
  const char* value = trusted_variable(kOption);
  char accepted[400];
  const int limit = paranoid();
  if (error == Papi::kNotPermitted || (error != Papi::kConflict && limit > kMostAllowed)) {
    snprintf(
        accepted, sizeof accepted,
        "events that this user may count (%s): /proc/sys/kernel/perf_event_paranoid is %d; root can allow more, by "
        "`sysctl kernel.perf_event_paranoid=%d` or less",
        papi.strerror(error), limit, limit > kMostAllowed ? kMostAllowed : limit - 1);
  } else if (error == Papi::kConflict) {
    snprintf(accepted, sizeof accepted,
             "events that can be counted together (%s): give fewer, or those of one kind; papi_event_chooser tells "
             "which go together",
             papi.strerror(error));
  } else if (error == Papi::kAlreadyRuns) {
    snprintf(accepted, sizeof accepted, "a program that does not use PAPI itself (%s)", papi.strerror(error));
  } else {
    snprintf(accepted, sizeof accepted,
             "events that PAPI can count on this machine (%s): papi_avail and papi_native_avail list them",
             papi.strerror(error));
  }
  refuse_option(kOption, value, accepted, event);
}

const char* place_in_option(int number) {
  const char* at = trusted_variable(kOption);
  for (int i = 0; i < number; ++i) at = strchr(at, ',') + 1;
  return at;
}

// Makes the calling thread's event set and starts it. Returns PAPI's error, and the number of the event that it is
// about, or -1.
int start_mine(int& event) {
  event = -1;
  int error = papi.create_eventset(&mine.set);
  for (int i = 0; error == Papi::kOk && i < names->count; ++i) {
    error = papi.add_event(mine.set, codes[i]);
    if (error != Papi::kOk) event = i;
  }
  if (error == Papi::kOk) error = papi.start(mine.set);
  mine.runs = error == Papi::kOk;
  return error;
}

void stop_mine() {
  long long values[kMostCounters];
  if (mine.runs) papi.stop(mine.set, values);
  mine.runs = false;
  papi.cleanup_eventset(mine.set);
  papi.destroy_eventset(&mine.set);
}

// Counts from here on, unless PAPI cannot: then recording ends.
void begin(Stream& stream) {
  mine.begun = true;
  int event;
  const int error = start_mine(event);
  if (error != Papi::kOk) {
    stop_mine();
    stop_recording("PAPI cannot count on a further thread", papi.strerror(error),
                   "count fewer events, or raise the limit on open files (ulimit -n): each counter of a thread is one");
    return;
  }
  pthread_setspecific(exit_key, &mine);
  for (int i = 0; i < names->count; ++i) {
    const u64 text = stream.intern(names->text[i]);
    stream.emit(stream.base_id(), event::counter_name{.text = text, .counter = static_cast<u64>(i)});
  }
}

// As the stream of the thread, in the last round: the runtime's own destructors may still report events.
void end_at_thread_exit(void* counters) {
  if (!mine.last_round) {
    mine.last_round = true;
    pthread_setspecific(exit_key, counters);
    return;
  }
  if (!mine.runs) return;
  stop_mine();
  papi.unregister_thread();
}

}  // namespace

void open_counters() {
  const CounterNames& wanted = wanted_counters();
  if (wanted.count == 0) return;
  if (const char* reason = papi.load()) {
    char accepted[300];
    snprintf(accepted, sizeof accepted,
             "PAPI (%s): install it (Debian: libpapi-dev; conda: papi), or load its module, so that the loader finds "
             "libpapi.so",
             reason);
    refuse_option(kOption, trusted_variable(kOption), accepted);
  }
  names = &wanted;
  for (int i = 0; i < wanted.count; ++i) {
    const int error = papi.event_name_to_code(wanted.text[i], &codes[i]);
    if (error != Papi::kOk) refuse(error, place_in_option(i));
  }
  int event;
  const int error = start_mine(event);
  if (error != Papi::kOk) refuse(error, event < 0 ? nullptr : place_in_option(event));
  stop_mine();
  pthread_key_create(&exit_key, end_at_thread_exit);
}

bool counting() { return names != nullptr; }

void record_counters(Stream& stream, u64 task) {
  if (!mine.begun) begin(stream);
  if (!mine.runs) return;
  long long values[kMostCounters];
  const int error = papi.read(mine.set, values);
  if (error != Papi::kOk) {
    mine.runs = false;
    stop_recording("PAPI cannot read the counters", papi.strerror(error), "count fewer events");
    return;
  }
  // What was counted while recording was off is no task's.
  const uint64_t switches = load_switches();
  const u64 point = mine.switches == switches ? kEnd : kBegin;
  mine.switches = switches;
  const u64 time = read_cycles();
  for (int i = 0; i < names->count; ++i) {
    stream.emit_at(
        time, task,
        event::counter{.value = static_cast<u64>(values[i]), .counter = static_cast<u64>(i), .point = point});
  }
}

}  // namespace marline::trace
