// SPDX-License-Identifier: Apache-2.0
//
// The printed lines set variables by env(1). Only those for `nodes:K` need `marline run`, which starts the workers.
#include "start/printed.hpp"

#include <unistd.h>

#include "base/report.hpp"
#include "start/devices.hpp"
#include "start/launcher.hpp"
#include "start/served.hpp"

namespace marline::launch {
namespace {

constexpr const char* kSlurm =
    "# Slurm, with --mpi=pmix for Open MPI or --mpi=pmi2 for MPICH where that is not the default";

// By each launcher that is here, and by Slurm. `mpi`: "" if the program uses none, so that each will do.
Words lines_of_ranks(const Options& options, const Words& words, bool is_unbound, const Environment& environment) {
  Words lines;
  const int ranks = *options.ranks;
  for (const std::string& mpi : options.mpi.empty() ? Words{"openmpi", "mpich"} : Words{options.mpi}) {
    if (!find_launcher(mpi, environment)) continue;
    Words line =
        is_unbound ? unbound_ranks(mpi, ranks, environment) : bound_ranks(mpi, ranks, options.threads, environment);
    line.insert(line.end(), words.begin(), words.end());
    lines.push_back(mpi == "openmpi" ? "# Open MPI" : "# MPICH");
    lines.push_back(shell_quoted(line));
  }
  Words line = {"srun", "-n", std::to_string(ranks)};
  if (options.threads) line.insert(line.end(), {"-c", std::to_string(*options.threads)});
  line.insert(line.end(), words.begin(), words.end());
  lines.push_back(kSlurm);
  lines.push_back(shell_quoted(line));
  return lines;
}

void print(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (count < 0) throw Refusal{"standard output: " + reason(errno)};
    at += static_cast<size_t>(count);
  }
}

}  // namespace

int print_start(Options& options, const Layout& layout, const Program& program, const Environment& environment,
                const Environment& of_caller) {
  const int workers = own_workers(options.devices).count;
  const int count = workers > 0 ? workers + 1 : options.ranks.value_or(1);
  options.nodes_as = named_nodes(options.nodes_as, count);
  Words words;
  if (workers > 0) {
    words = of_one_rank(options, layout, of_caller);
  } else {
    std::vector<Variable> changed = {{"LD_LIBRARY_PATH", environment.get("LD_LIBRARY_PATH")}};
    for (const Variable& one : marline_environment(options, layout, program, environment)) {
      if (of_caller.get(one.first) != one.second) changed.push_back(one);
    }
    words = setting(changed);
    const Words program_words = words_of_program(options);
    append(words, program_words);
  }
  const bool has_nodes = options.mpi.empty() && wants_nodes(own_workers(options.devices).devices, of_caller);
  if (workers > 0 || has_nodes) refuse_unfit_job(count, options.nodes_as);
  const Words lines =
      options.ranks ? lines_of_ranks(options, words, workers > 0, of_caller) : Words{shell_quoted(words)};
  print(join(lines, "\n") + "\n");
  return 0;
}

}  // namespace marline::launch
