// SPDX-License-Identifier: Apache-2.0
//
// Ranks get the recorder; the launcher of MPI does not.
#include "start/native.hpp"

#include "base/report.hpp"
#include "process/child.hpp"
#include "start/launcher.hpp"
#include "start/mpi.hpp"
#include "start/served.hpp"

namespace marline::launch {
namespace {

// libgomp has no OMPT (OpenMP 5.1, chapter 4): of a program on it only MPI calls can be recorded.
void refuse_nothing_to_record(const Program& program, const std::string& mpi, const Layout& layout) {
  const std::string gomp = program.file_of("libgomp.so.1");
  if (gomp.empty() || gomp.starts_with(layout.compat() + "/")) return;
  const std::string runs = program.path + " runs on " + gomp + ", which has no OMPT";
  if (mpi.empty()) {
    throw Refusal{runs +
                  ", and uses no MPI: there is nothing to record; leave --runtime native out, or build the "
                  "program by Clang"};
  }
  say("note: " + runs + ": only its " + name_of_mpi(mpi) + " calls are recorded");
}

std::optional<int> threads_in_force(const Environment& environment) {
  const std::string text = environment.get("OMP_NUM_THREADS");
  const auto first = decimal(trimmed(std::string_view(text).substr(0, text.find(','))));
  return first && *first > 0 ? first : std::nullopt;
}

}  // namespace

int run_native(Options& options, const Layout& layout, const Environment& environment) {
  const Program program = examine(options.program, {}, environment);
  options.mpi = which_mpi(options, program, environment);
  refuse_nothing_to_record(program, options.mpi, layout);
  const std::string recorder = Layout::require(layout.trace(options.mpi), "build Marline with its recorder");
  std::vector<Variable> added = recording_in(options.trace, recorder, environment);
  added.emplace_back("LD_PRELOAD", preloads({recorder}, environment));
  if (options.threads) added.emplace_back("OMP_NUM_THREADS", std::to_string(*options.threads));
  const Words words = words_of_program(options);
  if (!options.ranks) {
    Environment changed = environment;
    changed.set(added);
    Signals arrived;
    return run_child(words, changed, arrived, {});
  }
  Words all = bound_ranks(options.mpi, *options.ranks,
                          options.threads ? options.threads : threads_in_force(environment), environment);
  for (const Words& more : {setting(added), words}) all.insert(all.end(), more.begin(), more.end());
  return run_launcher(all, environment);
}

}  // namespace marline::launch
