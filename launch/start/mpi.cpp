// SPDX-License-Identifier: Apache-2.0
//
// PMIX_RANK without Open MPI's own variable comes from Slurm, and so does SLURM_PROCID (common/launchers.h).
#include "start/mpi.hpp"

#include "../common/launchers.h"

namespace marline::launch {
namespace {

constexpr std::pair<const char*, const char*> kNames[] = {
    {"openmpi", "Open MPI"}, {"mpich", "MPICH"}, {"standard", "the standard ABI of MPI"}};
constexpr const char* kStepSize = "SLURM_STEP_NUM_TASKS";  // not in a batch script, and 1 in a shell of srun's

// Whose launcher starts the ranks of `mpi`. For the standard ABI it is MPICH's or Intel's, which have its libraries.
LauncherMpi launcher_of(const std::string& mpi) { return mpi == "openmpi" ? kLauncherOfOpenMpi : kLauncherOfMpich; }

// The first variable is that of the implementation's own launcher.
std::string variable_of(LauncherMpi mpi) {
  for (const LauncherRank& launcher : launcher_ranks) {
    if (launcher.mpi == mpi) return launcher.rank;
  }
  return "";
}

}  // namespace

bool is_mpi(const std::string& name) {
  for (const auto& [mpi, _] : kNames) {
    if (name == mpi) return true;
  }
  return false;
}

std::string name_of_mpi(const std::string& mpi) {
  for (const auto& [name, text] : kNames) {
    if (mpi == name) return text;
  }
  return mpi;
}

std::optional<std::string> rank_in(const Environment& environment) {
  const std::string tasks = environment.get(kStepSize);
  for (const LauncherRank& launcher : launcher_ranks) {
    if (!environment.has(launcher.rank)) continue;
    const bool is_of_step = launcher.ranks == std::string_view(kStepSize);
    if (is_of_step && tasks == "1") continue;                       // a shell of srun's
    if (launcher.mpi == kLauncherOfAny && tasks.empty()) continue;  // a batch script
    return environment.get(launcher.rank);
  }
  return std::nullopt;
}

std::string started_by_other(const std::string& mpi, const Environment& environment) {
  const bool is_openmpi = launcher_of(mpi) == kLauncherOfOpenMpi;
  const LauncherMpi other = is_openmpi ? kLauncherOfMpich : kLauncherOfOpenMpi;
  if (environment.has(variable_of(launcher_of(mpi))) || !environment.has(variable_of(other))) return "";
  // Slurm's PMI-2 sets MPICH's variable for all; Open MPI says so itself if it does not understand PMI-2.
  if (is_openmpi) return environment.get("SLURM_MPI_TYPE") == "pmi2" ? "" : "mpich";
  return "openmpi";
}

std::string mpi_of_rank(const Environment& environment) {
  // If this is wrong, libmarline-mpi says so when the program initialises MPI.
  for (const LauncherRank& launcher : launcher_ranks) {
    if (launcher.mpi == kLauncherOfAny || !environment.has(launcher.rank)) continue;
    return launcher.mpi == kLauncherOfOpenMpi ? "openmpi" : "mpich";
  }
  return "";
}

}  // namespace marline::launch
