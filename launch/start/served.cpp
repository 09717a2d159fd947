// SPDX-License-Identifier: Apache-2.0
//
// The order of preloaded libraries: the sanitizer, the caller's, the recorder or the checker, MPI, the runtime.
#include "start/served.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <sys/stat.h>

#include "base/file.hpp"
#include "base/report.hpp"
#include "start/devices.hpp"
#include "start/job.hpp"
#include "start/launcher.hpp"
#include "start/mpi.hpp"

namespace marline::launch {

Words words_of_program(const Options& options) {
  Words words = {options.program};
  append(words, options.arguments);
  return words;
}

Words setting(const std::vector<Variable>& variables) {
  Words words;
  if (!variables.empty()) words.push_back("env");
  for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
  return words;
}

std::string which_mpi(const Options& options, const Program& program, const Environment& environment) {
  const std::string& linked = program.mpi;
  const std::string is_linked = program.path + " is linked with " + name_of_mpi(linked);
  if (!options.mpi.empty() && !linked.empty() && options.mpi != linked) {
    throw Refusal{"--mpi " + options.mpi + ": " + is_linked + "; leave --mpi out"};
  }
  const std::string mpi = linked.empty() ? options.mpi : linked;
  const auto [workers, devices] = own_workers(options.devices);
  const bool has_job = is_member_of_job(environment);
  if (!linked.empty() && workers == 0 && wants_cluster(devices, environment) && !has_job) {
    throw Refusal{"--devices cluster: " + is_linked +
                  ", and the ranks of a program are no cluster; --devices "
                  "cluster:K gives each rank K nodes of its own"};
  }
  if (!linked.empty() && workers == 0 && wants_nodes(devices, environment) && !options.ranks && !rank_in(environment) &&
      !has_job) {
    throw Refusal{"--devices nodes: " + is_linked +
                  ", whose ranks are each other's devices: start them by -n RANKS, by "
                  "mpirun, or by srun --mpi=pmix or --mpi=pmi2; --devices nodes:K gives each rank K workers of its "
                  "own"};
  }
  if (options.ranks && mpi.empty() && (workers > 0 || !wants_nodes(devices, environment))) {
    throw Refusal{"-n " + std::to_string(*options.ranks) + ": " + program.path +
                  " is linked neither with Open MPI nor with MPICH; leave -n out, or name the implementation that it "
                  "loads by --mpi"};
  }
  const std::string other = mpi.empty() || options.ranks ? "" : started_by_other(mpi, environment);
  if (!other.empty()) {
    throw Refusal{program.path + " uses " + name_of_mpi(mpi) + " but was started by " + name_of_mpi(other) +
                  "'s launcher: every rank would be alone; start it by " + require_launcher(mpi, environment)};
  }
  return !mpi.empty() || options.ranks ? mpi : mpi_of_rank(environment);
}

std::string preloads(const Words& libraries, const Environment& environment) {
  Words all;
  for (const std::string& part : split(environment.get("LD_PRELOAD"), ':')) {
    for (const std::string& word : words_of(part)) {
      if (!contains(libraries, word)) all.push_back(word);
    }
  }
  all.insert(all.end(), libraries.begin(), libraries.end());
  return join(all, ":");
}

namespace {

// Makes the folder of a trace.
std::string made_folder(const std::string& folder) {
  const std::string remedy = "; name a folder for the trace that can be written";
  if (exists(folder) && !is_folder(folder)) {
    throw Refusal{folder + " is a file: name a new or empty folder for the trace"};
  }
  const std::string whole = absolute(folder);
  for (size_t end = 1; end != whole.npos;) {  // ranks of one job share the folder: it may be there already
    end = whole.find('/', end + 1);
    const int error = mkdir(whole.substr(0, end).c_str(), S_IRWXU) == 0 ? 0 : errno;
    if (error != 0 && !is_folder(whole.substr(0, end))) throw Refusal{folder + ": " + reason(error) + remedy};
  }
  char path[PATH_MAX];
  if (realpath(whole.c_str(), path) == nullptr) throw Refusal{folder + ": " + reason(errno) + remedy};
  return path;
}

}  // namespace

std::vector<Variable> recording_in(const std::string& folder, const std::string& recorder,
                                   const Environment& environment) {
  std::vector<Variable> added = {{"MARLINE_TRACE_DIR", made_folder(folder)}};
  // NVTX loads the tool that this variable names; a tool that the caller has chosen stays.
  if (environment.get("NVTX_INJECTION64_PATH").empty()) added.emplace_back("NVTX_INJECTION64_PATH", recorder);
  return added;
}

std::vector<Variable> marline_environment(const Options& options, const Layout& layout, const Program& program,
                                          const Environment& environment) {
  Words libraries;
  std::vector<Variable> added;
  if (!options.trace.empty()) {
    libraries.push_back(Layout::require(layout.trace(options.mpi), "build Marline with its recorder"));
    added = recording_in(options.trace, libraries.back(), environment);
  }
  if (!options.check.empty()) {
    added.emplace_back("MARLINE_CHECK_DIR", options.check);
    libraries.push_back(Layout::require(options.accesses ? layout.accesses() : layout.checker(), kInstallAgain));
    if (options.accesses && !options.mpi.empty())
      libraries.push_back(Layout::require(layout.accesses_of_mpi(options.mpi), kInstallAgain));
  }
  if (!options.mpi.empty()) libraries.push_back(Layout::require(layout.mpi(options.mpi), kInstallAgain));
  libraries.push_back(layout.runtime());
  std::string preloaded = preloads(libraries, environment);
  // GCC's AddressSanitizer is a library that must be the first of the process. (Clang's is part of the program.)
  const std::string sanitizer = program.file_of("libasan.so");
  if (!sanitizer.empty() && !contains(split(preloaded, ':'), sanitizer)) preloaded = sanitizer + ":" + preloaded;
  added.emplace_back("LD_PRELOAD", preloaded);
  if (options.threads) added.emplace_back("OMP_NUM_THREADS", std::to_string(*options.threads));
  if (!options.devices.empty()) added.emplace_back("MARLINE_DEVICES", options.devices);
  if (!options.nodes_as.empty()) added.emplace_back("MARLINE_NODES_AS", options.nodes_as);
  return added;
}

Words of_one_rank(const Options& options, const Layout& layout, const Environment& environment) {
  Words words = {layout.command(), "run"};
  const auto add = [&](const Words& more) { append(words, more); };
  if (!options.mpi.empty()) add({"--mpi", options.mpi});
  if (options.threads) add({"-t", std::to_string(*options.threads)});
  // A rank does not know how many workers the other ranks of its node start, so it binds none of its own.
  if (options.no_bind || rank_in(environment)) add({"--no-bind"});
  if (!options.devices.empty()) add({"--devices", options.devices});
  if (!options.nodes_as.empty()) add({"--nodes-as", options.nodes_as});
  if (!options.trace.empty()) add({"--trace", absolute(options.trace)});
  if (!options.check.empty()) add({"--check", options.check});
  if (options.accesses) add({"--accesses"});
  add({"--"});
  add(words_of_program(options));
  return words;
}

}  // namespace marline::launch
