// SPDX-License-Identifier: Apache-2.0
//
// The option table of libmarline-mpi. To add an option: add a field to MpiOptions and an entry here, and run
// `tools/gen_options_doc.py` for the page. In C++, as the tables of the other libraries and what they share
// (common/options.hpp).
#include "base/options.h"

#include <pthread.h>

#include "../common/options.hpp"
#include "../common/readers.hpp"

namespace marline {
namespace {

constexpr int kLargestWindow = 1 << 20;

constexpr OptionRow<MpiOptions> kOptions[] = {
    // Read by pmpi/caller.c, which is also in the recorder.
    {"MARLINE_MPI_NEVER_SUSPEND", "", "a list of file name prefixes, separated by commas or colons",
     "Shared libraries from which MPI calls never suspend the task, besides HDF5, NetCDF, PnetCDF, ADIOS, CGNS, Silo, "
     "MED, SIONlib and ParallelIO: those that a second task must not enter while the first is inside."},
    {"MARLINE_MPI_PROGRESS", "opportunistic", "opportunistic or thread",
     "Who asks MPI about the calls of suspended tasks: Marline's threads, as MARLINE_PROGRESS says, or a thread that "
     "does nothing else and keeps a core busy while calls are open. For study.",
     [](Cursor& in, MpiOptions& to) {
       static constexpr const char* kWords[] = {"opportunistic", "thread"};
       return read_word(in, kWords, to.progress);
     }},
    {"MARLINE_MPI_THREADS", "auto", "auto or owner",
     "Which threads call MPI: any (auto), if the library provides MPI_THREAD_MULTIPLE, or one thread of "
     "libmarline-mpi's "
     "own that makes all calls (owner), for libraries without it and against the errors of those that have it. With "
     "MPI_THREAD_SERIALIZED, auto is owner.",
     [](Cursor& in, MpiOptions& to) {
       static constexpr const char* kWords[] = {"auto", "owner"};
       return read_word(in, kWords, to.one_owner);
     }},
    {"MARLINE_MPI_COUNTERS", "false", "true or false",
     "Prints in MPI_Finalize, for each rank, how often MPI was asked and how long tasks took to go on.",
     [](Cursor& in, MpiOptions& to) { return read_bool(in, to.counters); }},
    {"MARLINE_MPI_WATCH", "0", "seconds, 0 to 1000000",
     "When nothing has moved on any rank for so long, and nothing runs, prints once what `marline ps` says, on stderr. "
     "0: off.",
     [](Cursor& in, MpiOptions& to) { return in.accept_real(to.watch) && to.watch >= 0 && to.watch <= 1e6; }},
    {"MARLINE_MPI_WINDOW", "64", "a number of messages, 0 to 1048576",
     "How many messages tasks may have sent to one rank that are not received, before tasks that send more to it "
     "complete only when some are. Grows by itself where the receiver needs others first. 0: no limit.",
     [](Cursor& in, MpiOptions& to) { return read_number(in, 0, kLargestWindow, to.window); }},
};

MpiOptions the_options;  // written once, by read_environment

void read_environment() {
  for (const auto& option : kOptions) {
    const char* value = trusted_variable(option.name);
    (void)read_option(option, value, the_options, [&](const char*) {
      report_unusable(option.name, value, option.accepted, nullptr, option.default_value);
    });
  }
}

}  // namespace
}  // namespace marline

const MpiOptions* mpi_options() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, marline::read_environment);
  return &marline::the_options;
}

extern "C" __attribute__((visibility("default"))) void marline_mpi_options_show(marline::Text& out) {
  marline::show_options(out, marline::kOptions);
}
