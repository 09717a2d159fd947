/* SPDX-License-Identifier: Apache-2.0
 *
 * The option table of libmarline-mpi. To add an option: add a field to MpiOptions and an entry here, and run
 * `tools/gen_options_doc.py` for the page. Each entry: name, default, accepted values, one line about it; then the
 * function that reads it.
 */
#include "base/options.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

#include "../common/environment.h"
#include "base/report.h"

enum { kLargestWindow = 1 << 20 };

static MpiOptions options; /* written once, by read_environment */

/* The position of `value` among `words`, which end with NULL; -1: none of them. */
static int position(const char* value, const char* const words[]) {
  for (int i = 0; words[i] != NULL; ++i) {
    if (strcasecmp(value, words[i]) == 0) return i;
  }
  return -1;
}

static bool read_bool(const char* value, bool* to) {
  static const char* const kWords[] = {"false", "true", "0", "1", "no", "yes", "off", "on", NULL};
  const int word = position(value, kWords);
  *to = word % 2 == 1;
  return word >= 0;
}

static bool read_progress(const char* value) {
  static const char* const kWords[] = {"opportunistic", "thread", NULL};
  const int word = position(value, kWords);
  options.progress = (MpiProgress)word;
  return word >= 0;
}

static bool read_watch(const char* value) {
  char* end;
  const double seconds = strtod(value, &end);
  if (end == value || *end != '\0' || !(seconds >= 0 && seconds <= 1e6)) return false;
  options.watch = seconds;
  return true;
}

static bool read_window(const char* value) {
  char* end;
  const long messages = strtol(value, &end, 10);
  if (end == value || *end != '\0' || messages < 0 || messages > kLargestWindow) return false;
  options.window = (int)messages;
  return true;
}

static bool read_threads(const char* value) {
  static const char* const kWords[] = {"auto", "owner", NULL};
  const int word = position(value, kWords);
  options.one_owner = word == 1;
  return word >= 0;
}

static bool read_counters(const char* value) { return read_bool(value, &options.counters); }

/* pmpi/caller.c, which is also in the recorder, reads the value; any list is accepted. */
static bool read_elsewhere(const char* value) { return value != NULL; }

typedef struct Option {
  const char* name;
  const char* value; /* the default */
  const char* accepted;
  const char* summary;
  bool (*read)(const char* value); /* false: not one of the accepted values */
} Option;

static const Option kOptions[] = {
    {"MARLINE_MPI_NEVER_SUSPEND", "", "a list of file name prefixes, separated by commas or colons",
     "Shared libraries from which MPI calls never suspend the task, besides HDF5, NetCDF, PnetCDF, ADIOS, CGNS, Silo, "
     "MED, "
     "SIONlib and ParallelIO: those that a second task must not enter while the first is inside.",
     read_elsewhere},
    {"MARLINE_MPI_PROGRESS", "opportunistic", "opportunistic or thread",
     "Who asks MPI about the calls of suspended tasks: Marline's threads, as MARLINE_PROGRESS says, or a thread that "
     "does "
     "nothing else and keeps a core busy while calls are open. For study.",
     read_progress},
    {"MARLINE_MPI_THREADS", "auto", "auto or owner",
     "Which threads call MPI: any (auto), if the library provides MPI_THREAD_MULTIPLE, or one thread of "
     "libmarline-mpi's "
     "own that makes all calls (owner), for libraries without it and against the errors of those that have it. With "
     "MPI_THREAD_SERIALIZED, auto is owner.",
     read_threads},
    {"MARLINE_MPI_COUNTERS", "false", "true or false",
     "Prints in MPI_Finalize, for each rank, how often MPI was asked and how long tasks took to go on.", read_counters},
    {"MARLINE_MPI_WATCH", "0", "seconds",
     "When nothing has moved on any rank for so long, and nothing runs, prints once what `marline ps` says, on stderr. "
     "0: off.",
     read_watch},
    {"MARLINE_MPI_WINDOW", "64", "a number of messages, 0 to 1048576",
     "How many messages tasks may have sent to one rank that are not received, before tasks that send more to it "
     "complete "
     "only when some are. Grows by itself where the receiver needs others first. 0: no limit.",
     read_window},
};

static void read_environment(void) {
  for (size_t i = 0; i < sizeof kOptions / sizeof kOptions[0]; ++i) {
    const Option* option = &kOptions[i];
    option->read(option->value);
    const char* value = trusted_variable(option->name);
    if (value == NULL || *value == '\0' || option->read(value)) continue;
    report_warning("%s=%s: accepted is %s; %s is used", option->name, value, option->accepted, option->value);
    option->read(option->value);
  }
}

const MpiOptions* mpi_options(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_environment);
  return &options;
}
