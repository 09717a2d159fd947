// SPDX-License-Identifier: Apache-2.0
//
// Parses the recorder's options. One table gives the words of MARLINE_TRACE_EVENTS to the parser, to its error message
// and to the JSON file.
#include "base/options.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../common/environment.h"
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
};

unsigned all_events() {
  unsigned all = 0;
  for (const auto& entry : kWords) {
    all |= entry.events;
  }
  return all;
}

unsigned events_of(const char* word, size_t length) {
  for (const auto& entry : kWords) {
    if (strlen(entry.word) == length && strncmp(entry.word, word, length) == 0) {
      return entry.events;
    }
  }
  return 0;
}

bool read_events(const char* text, unsigned& events) {
  events = 0;
  for (const char* word = text; *word != '\0';) {
    const size_t length = strcspn(word, ",");
    const unsigned found = events_of(word, length);
    if (found == 0) {
      fprintf(stderr, "marline-trace: MARLINE_TRACE_EVENTS has \"%.*s\"; nothing is recorded: it is a list of",
              static_cast<int>(length), word);
      for (const auto& entry : kWords) {
        fprintf(stderr, "%s %s", &entry == kWords ? "" : ",", entry.word);
      }
      fputc('\n', stderr);
      return false;
    }
    events |= found;
    word += length + (word[length] == ',' ? 1 : 0);
  }
  return true;
}

bool read_start(const char* text, bool& begin_off) {
  begin_off = strcasecmp(text, "off") == 0;
  if (begin_off || strcasecmp(text, "on") == 0) {
    return true;
  }
  fprintf(stderr, "marline-trace: MARLINE_TRACE_START=%s; nothing is recorded: it is on or off\n", text);
  return false;
}

// Reads a number of bytes, or of K, M, G (powers of 1024).
bool read_limit(const char* text, uint64_t& limit) {
  constexpr char kUnits[] = "KMG";
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  unsigned shift = 0;
  const char* unit = strchr(kUnits, *end & ~0x20);
  if (unit != nullptr && *unit != '\0') {
    shift = 10 * (static_cast<unsigned>(unit - kUnits) + 1);
    ++end;
  }
  limit = number << shift;
  if (errno == 0 && *text >= '1' && *text <= '9' && *end == '\0' && limit >> shift == number) {
    return true;
  }
  fprintf(stderr, "marline-trace: MARLINE_TRACE_LIMIT=%s; nothing is recorded: it is a size like 500M or 2G\n", text);
  return false;
}

// Treats an empty value like none.
const char* value_of(const char* name) {
  const char* value = trusted_variable(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

}  // namespace

bool read_options(Options& options) {
  options = {all_events(), false, 0};
  const char* events = value_of("MARLINE_TRACE_EVENTS");
  const char* start = value_of("MARLINE_TRACE_START");
  const char* limit = value_of("MARLINE_TRACE_LIMIT");
  return (events == nullptr || read_events(events, options.events)) &&
         (start == nullptr || read_start(start, options.begin_off)) &&
         (limit == nullptr || read_limit(limit, options.limit));
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
