// SPDX-License-Identifier: Apache-2.0
//
// Parses the recorder's options. One table gives the words of MARLINE_TRACE_EVENTS to the parser, to its error message
// and to the JSON file.
#include "base/options.hpp"

#include <limits.h>
#include <signal.h>
#include <string.h>

#include "../common/options.hpp"
#include "../common/readers.hpp"
#include "base/kinds.hpp"

namespace marline::trace {
namespace {

constexpr struct {
  const char* word;
  unsigned events;
} kWords[] = {
    {"task", kTaskEvents},
    {"dependence", kTaskEvents | kDependenceEvents},  // dependences are between tasks, so tasks are recorded, too
    {"sync", kSyncEvents},
    {"mutex", kMutexEvents},
    {"work", kWorkEvents},
    {"mpi", kMpiEvents},
    {"region", kRegionEvents},
    {"device", kDeviceEvents},
    {"memory", kMemoryEvents},
};

unsigned all_events() {
  unsigned all = 0;
  for (const auto& entry : kWords) {
    all |= entry.events;
  }
  return all;
}

unsigned accept_events(Cursor& in) {
  for (const auto& entry : kWords) {
    if (in.accept_word(entry.word)) {
      return entry.events;
    }
  }
  return 0;
}

// Leaves the cursor at the first word that is none.
bool read_events(Cursor& in, Options& to) {
  to.events = in.at_end() ? all_events() : 0;
  while (!in.at_end()) {
    const char* word = in.mark();
    const unsigned found = accept_events(in);
    if (found == 0 || !(in.accept(',') || in.at_end())) {
      in.reset(word);
      return false;
    }
    to.events |= found;
  }
  return true;
}

// "0,100-107,0-:8": ranks, and ranges with or without an end and a step. Leaves the cursor at the first that is none.
bool read_ranks(Cursor& in, Options& to) {
  to.ranks.count = 0;
  while (!in.at_end()) {
    const char* begin = in.mark();
    RankList::Part part = {0, INT_MAX, 1};
    bool good = to.ranks.count < RankList::kMostParts && read_number(in, 0, INT_MAX, part.first);
    if (good && !in.accept('-')) {
      part.last = part.first;
    } else if (good && !in.at_end() && *in.rest() != ':' && *in.rest() != ',') {
      good = read_number(in, part.first, INT_MAX, part.last);
    }
    if (good && in.accept(':')) good = read_number(in, 1, INT_MAX, part.step);
    if (!good || !(in.accept(',') || in.at_end())) {
      in.reset(begin);
      return false;
    }
    to.ranks.parts[to.ranks.count++] = part;
  }
  return true;
}

bool read_rate(Cursor& in, Options& to) {
  constexpr unsigned kUsual = 100, kMost = 1000;
  static constexpr const char* kStates[] = {"off", "on"};
  bool on = false;
  if (!read_word(in, kStates, on)) return read_number(in, 1, kMost, to.sample_hz);
  to.sample_hz = on ? kUsual : 0;
  return true;
}

constexpr uint64_t kSmallestRing = uint64_t{1} << 20;  // has room for some ten windows (ring.hpp)
constexpr uint64_t kLargestRing = uint64_t{64} << 30;

bool read_ring(Cursor& in, Options& to) {
  return in.at_end() || (read_plain_bytes(in, to.ring) && to.ring >= kSmallestRing && to.ring <= kLargestRing);
}

bool read_signal(Cursor& in, Options& to) {
  static constexpr const char* kNames[] = {"usr1", "usr2", "sigusr1", "sigusr2"};
  if (in.at_end()) return true;
  const int name = in.accept_one_of(kNames);
  to.signal = name % 2 == 0 ? SIGUSR1 : SIGUSR2;
  return name >= 0;
}

// Names are PAPI's. They may have any character but a comma and blanks.
bool read_counters(Cursor& in, Options& to) {
  CounterNames& names = to.counters;
  for (names.count = 0; !in.at_end(); ++names.count) {
    const size_t length = strcspn(in.rest(), ", \t\n");
    if (names.count == kMostCounters || length == 0 || length >= kCounterBytes) return false;
    memcpy(names.text[names.count], in.rest(), length);
    names.text[names.count][length] = '\0';
    const char* next = in.rest() + length;
    in.reset(next);
    if (!in.at_end() && (!in.accept(',') || in.at_end())) {
      in.reset(next);
      return false;
    }
  }
  return true;
}

constexpr OptionRow<Options> kOptions[] = {
    {"MARLINE_TRACE_DIR", "", "a folder", "Where to record: a folder without a trace. Empty: nothing is recorded."},
    {"MARLINE_TRACE_EVENTS", "", "a list of task, dependence, sync, mutex, work, mpi, region, device, memory",
     "What is recorded; `dependence` includes `task`. Empty: all.", read_events},
    {"MARLINE_TRACE_START", "on", "on or off",
     "Whether recording is on from the start, or only from where the program switches it on.",
     [](Cursor& in, Options& to) {
       static constexpr const char* kStates[] = {"on", "off"};
       return read_word(in, kStates, to.begin_off);
     }},
    {"MARLINE_TRACE_LIMIT", "", "a size like 500M or 2G",
     "Bytes that a process may write; then its recording stops. Empty: no limit.",
     [](Cursor& in, Options& to) { return in.at_end() || (read_plain_bytes(in, to.limit) && to.limit > 0); }},
    {"MARLINE_TRACE_RANKS", "", "a list of ranks and ranges like 0,100-107 or 0-:8 (every eighth)",
     "Which MPI ranks record; the others leave a description only. Empty: all.", read_ranks},
    {"MARLINE_TRACE_SAMPLE", "off", "off, on (100), or how many samples a second, from 1 to 1000",
     "How often the call stack of a thread is recorded, by its CPU time.", read_rate},
    {"MARLINE_TRACE_RING", "", "a size from 1M to 64G, like 64M",
     "Keep only the last records of a process, in so many bytes, and what is needed to read them. Empty: keep all.",
     read_ring},
    {"MARLINE_TRACE_SIGNAL", "", "USR1 or USR2",
     "A signal at which a process copies its ring (MARLINE_TRACE_RING) into a folder beside the trace. Empty: none.",
     read_signal},
    {"MARLINE_TRACE_AGGREGATE", "off", "on or off",
     "Keep sums by kind of task, region, loop and MPI function, in memory that does not grow, and no records.",
     [](Cursor& in, Options& to) {
       static constexpr const char* kStates[] = {"off", "on"};
       return read_word(in, kStates, to.aggregate);
     }},
    {"MARLINE_TRACE_COUNTERS", "", "up to 16 names of events, separated by commas, as papi_avail lists them",
     "What each thread counts for each task, by PAPI. Empty: nothing.", read_counters},
};

// A value that contradicts another option.
void refuse_conflicts(const Options& options) {
  if (options.ring != 0 && options.limit != 0) {
    refuse_option("MARLINE_TRACE_LIMIT", trusted_variable("MARLINE_TRACE_LIMIT"),
                  "nothing beside MARLINE_TRACE_RING, which bounds what is written");
  }
  if (options.signal != 0 && options.ring == 0) {
    refuse_option("MARLINE_TRACE_SIGNAL", trusted_variable("MARLINE_TRACE_SIGNAL"),
                  "MARLINE_TRACE_RING beside it, a size like 64M: the signal copies a ring");
  }
  if (options.aggregate && (options.ring != 0 || options.sample_hz != 0 || options.counters.count != 0)) {
    refuse_option("MARLINE_TRACE_AGGREGATE", trusted_variable("MARLINE_TRACE_AGGREGATE"),
                  "MARLINE_TRACE_RING, MARLINE_TRACE_SAMPLE and MARLINE_TRACE_COUNTERS unset beside it, as these "
                  "need records");
  }
}

}  // namespace

void read_options(Options& options) {
  options = {};
  for (const auto& option : kOptions) {
    const char* value = trusted_variable(option.name);
    (void)read_option(option, value, options,
                      [&](const char* rest) { refuse_option(option.name, value, option.accepted, rest); });
  }
  refuse_conflicts(options);
}

void write_event_words(FILE* out, unsigned events) {
  const char* separator = "";
  for (const auto& entry : kWords) {
    if ((events & entry.events) == entry.events) {
      fprintf(out, "%s\"%s\"", separator, entry.word);
      separator = ", ";
    }
  }
}

}  // namespace marline::trace

extern "C" __attribute__((visibility("default"))) void marline_trace_options_show(marline::Text& out) {
  marline::show_options(out, marline::trace::kOptions);
}
