// SPDX-License-Identifier: Apache-2.0
//
// Which MPI a launcher belongs to is read in its file, if that is an executable of Open MPI or MPICH. Starting a
// launcher takes tens of milliseconds, so only one whose file does not name its MPI, such as a script, is asked by
// --version.
#include "start/launcher.hpp"

#include <algorithm>
#include <map>
#include <regex.h>
#include <unistd.h>

#include "base/answer.hpp"
#include "base/file.hpp"
#include "base/report.hpp"
#include "place/node.hpp"

namespace marline::launch {
namespace {

// Texts that only the launchers of one MPI contain. Open MPI 4 and PRRTE need these libraries.
constexpr std::pair<std::string_view, const char*> kMarksInFile[] = {{"libopen-rte.so", "openmpi"},
                                                                     {"libprrte.so", "openmpi"},
                                                                     {"HYDRA build details:", "mpich"},
                                                                     {"Intel(R) MPI Library", "mpich"}};
// What a launcher's --version says, with the version in brackets: those of Open MPI 4 and 5, and PRRTE, which is Open
// MPI 5's; those of MPICH, MVAPICH and Intel MPI.
constexpr std::pair<const char*, const char*> kVersionTexts[] = {
    {"openmpi", "[(](Open MPI|OpenRTE|PRRTE)[)][[:space:]]+([0-9][^[:space:]]*)"},
    {"mpich", "(HYDRA build details:)[[:space:]]+Version:[[:space:]]+([0-9][^[:space:]]*)"},
    {"mpich", "(Intel[(]R[)] MPI Library) .*Version ([0-9][^[:space:]]*)"}};
constexpr int kVersionSeconds = 20;
// A batch system or a host file knows more about the machine than this node does: then placement is the launcher's.
constexpr const char* kAllocations[] = {
    "SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE"};
// Programs that start ranks, by their name up to its first dot, and the options that say how many.
constexpr std::string_view kRankStarters[] = {"mpirun", "mpiexec", "orterun", "prterun",
                                              "prun",   "srun",    "jsrun",   "aprun"};
constexpr std::string_view kCountOptions[] = {"-n", "-np", "--n", "--np", "--ntasks"};

// Otherwise the launcher is MPICH's or Intel's: these two have libraries of the standard ABI.
bool is_openmpi(const std::string& mpi) { return mpi == "openmpi"; }

// The first of these that is in PATH and belongs to the MPI: a module or a virtual environment puts its own `mpirun`
// first. The others are Debian's names.
Words names_of_launchers(const std::string& mpi) {
  if (is_openmpi(mpi)) return {"mpirun", "mpiexec", "mpirun.openmpi"};
  return {"mpirun", "mpiexec", "mpirun.mpich", "mpiexec.hydra"};
}

std::optional<std::string> version_in(const std::string& text, const std::string& mpi) {
  for (const auto& [of, pattern] : kVersionTexts) {
    if (is_openmpi(of) != is_openmpi(mpi)) continue;
    regex_t compiled;
    regmatch_t parts[3];
    if (regcomp(&compiled, pattern, REG_EXTENDED) != 0) continue;
    const bool is_found = regexec(&compiled, text.c_str(), 3, parts, 0) == 0;
    regfree(&compiled);
    if (is_found)
      return text.substr(static_cast<size_t>(parts[2].rm_so), static_cast<size_t>(parts[2].rm_eo - parts[2].rm_so));
  }
  return std::nullopt;
}

std::string answer_to_version(const std::string& path, const Environment& environment) {
  return answer_of({path, "--version"}, environment, kVersionSeconds, true).value_or("");
}

// "openmpi" or "mpich"; "": its file does not tell.
std::string mpi_in_file(const std::string& path) {
  const Mapping file(path);
  if (!file.bytes().starts_with("\x7f"
                                "ELF"))
    return "";
  for (const auto& [mark, mpi] : kMarksInFile) {
    if (file.bytes().find(mark) != std::string_view::npos) return mpi;
  }
  return "";
}

// As mpi_in_file. If the file does not tell, the launcher is started with --version.
std::string mpi_of_launcher(const std::string& path, const Environment& environment) {
  const std::string told = mpi_in_file(path);
  if (!told.empty()) return told;
  const std::string text = answer_to_version(path, environment);
  return version_in(text, "openmpi") ? "openmpi" : version_in(text, "mpich") ? "mpich" : "";
}

bool is_local(const Environment& environment) {
  return std::none_of(std::begin(kAllocations), std::end(kAllocations),
                      [&](const char* name) { return environment.has(name); });
}

Words first_words(const std::string& mpi, int ranks, const Environment& environment) {
  Words words = {require_launcher(mpi, environment), "-n", std::to_string(ranks)};
  if (is_openmpi(mpi) && geteuid() == 0) words.push_back("--allow-run-as-root");
  return words;
}

// Open MPI's launcher passes to other nodes only the variables that -x names.
Words forwarded(const Environment& environment) {
  Words words;
  for (const std::string& name : environment.names_with({"OMP_", "MARLINE_", "KMP_", "GOMP_"})) {
    append(words, {"-x", name});
  }
  return words;
}

// The number of ranks and the program's words in a launcher's arguments; "RANKS" and nothing if it has other options or
// several programs.
std::pair<std::string, Words> count_and_program(const Words& arguments) {
  std::string ranks = "RANKS";
  size_t at = 0;
  const auto is_count = [](const std::string& word) {
    return std::find(std::begin(kCountOptions), std::end(kCountOptions), word) != std::end(kCountOptions);
  };
  while (arguments.size() - at > 1 && is_count(arguments[at])) {
    ranks = arguments[at + 1];
    at += 2;
  }
  const Words rest(arguments.begin() + static_cast<ptrdiff_t>(at), arguments.end());
  if (rest.empty() || rest[0].starts_with('-') || contains(rest, ":")) return {"RANKS", {}};
  return {ranks, rest};
}

}  // namespace

std::string require_launcher(const std::string& mpi, const Environment& environment) {
  const auto found = find_launcher(mpi, environment);
  if (found) return *found;
  throw Refusal{"no launcher of " + mpi + " in PATH (" + join(names_of_launchers(mpi), ", ") +
                "); load its module, or on Debian: apt-get install " + (is_openmpi(mpi) ? "openmpi-bin" : "mpich")};
}

std::optional<std::string> find_launcher(const std::string& mpi, const Environment& environment) {
  std::optional<std::string> unknown;
  for (const std::string& name : names_of_launchers(mpi)) {
    const auto file = find_in_path(name, environment.search_path());
    if (!file) continue;
    const std::string of = mpi_of_launcher(*file, environment);
    if (!of.empty() && is_openmpi(of) == is_openmpi(mpi)) return file;
    if (of.empty() && !unknown) unknown = file;
  }
  return unknown;
}

std::optional<std::string> version_of_launcher(const std::string& path, const std::string& mpi,
                                               const Environment& environment) {
  return version_in(answer_to_version(path, environment), mpi);
}

Words unbound_ranks(const std::string& mpi, int ranks, const Environment& environment) {
  Words words = first_words(mpi, ranks, environment);
  if (!is_openmpi(mpi)) return words;
  if (is_local(environment)) {
    append(words, {"--bind-to", "none"});
    if (static_cast<size_t>(ranks) > core_count()) words.push_back("--oversubscribe");
  }
  append(words, forwarded(environment));
  return words;
}

Words bound_ranks(const std::string& mpi, int ranks, std::optional<int> threads, const Environment& environment) {
  Words words = first_words(mpi, ranks, environment);
  const int cores = static_cast<int>(core_count());
  const int share = threads.value_or(std::max(1, cores / ranks));
  const bool fits = int64_t{ranks} * share <= cores;
  if (!is_openmpi(mpi)) {
    if (is_local(environment) && fits) append(words, {"-bind-to", "core:" + std::to_string(share)});
    return words;
  }
  if (is_local(environment)) {
    // Open MPI's own default binds each of one or two ranks to a single core, whatever its number of threads.
    append(words, fits ? Words{"--map-by", "slot:PE=" + std::to_string(share), "--bind-to", "core"}
                       : Words{"--bind-to", "none"});
    if (ranks > cores) words.push_back("--oversubscribe");
  }
  append(words, forwarded(environment));
  return words;
}

void refuse_rank_starter(const std::string& command, const std::string& program, const Words& arguments) {
  const std::string name = file_name(program);
  const std::string stem = name.substr(0, name.find('.'));
  if (std::find(std::begin(kRankStarters), std::end(kRankStarters), stem) == std::end(kRankStarters)) return;
  const auto [ranks, words] = count_and_program(arguments);
  const std::string app = words.empty() ? "PROGRAM" : shell_quoted(words);
  std::string each;
  if (command == "marline run") {
    each = ", or start `marline run` as each rank: `" + program + " -n " + ranks + " marline run " + app + "`";
  }
  throw Refusal{program + " is a launcher, and its ranks would not get Marline's MPI layer; let Marline start them: `" +
                command + " -n " + ranks + " " + app + "`" + each};
}

}  // namespace marline::launch
