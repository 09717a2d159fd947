// SPDX-License-Identifier: Apache-2.0
//
// Variables that tell a process its rank: one of each implementation's own launcher; the variables of PMIx, by which
// Slurm starts ranks of either, and of Slurm without it. offload/wire/mpi/mpi_loader.cpp and trace/base/recorder.cpp
// have them, too.
#include "start/mpi.hpp"

namespace marline::launch {
namespace {

constexpr std::pair<const char*, const char*> kNames[] = {
    {"openmpi", "Open MPI"}, {"mpich", "MPICH"}, {"standard", "the standard ABI of MPI"}};
// The libraries of the standard ABI are MPICH's and Intel's, which MPICH's launcher starts.
constexpr std::pair<const char*, const char*> kRankOf[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK"}, {"mpich", "PMI_RANK"}, {"standard", "PMI_RANK"}};
// Which MPI is served in a program that loads MPI itself. PMIx without Open MPI's variable is Slurm's: it seldom starts
// MPICH so. If this is wrong, libmarline-mpi says so when the program initialises MPI.
constexpr std::pair<const char*, const char*> kTellsMpi[] = {
    {"OMPI_COMM_WORLD_RANK", "openmpi"}, {"PMI_RANK", "mpich"}, {"PMIX_RANK", "openmpi"}};
constexpr const char* kStepSize = "SLURM_STEP_NUM_TASKS";  // not in a batch script, and 1 in a shell of srun's

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
  for (const auto& [_, variable] : kRankOf) {
    if (environment.has(variable)) return environment.get(variable);
  }
  if (environment.get(kStepSize) == "1") return std::nullopt;
  if (environment.has("PMIX_RANK")) return environment.get("PMIX_RANK");
  if (environment.has(kStepSize) && environment.has("SLURM_PROCID")) return environment.get("SLURM_PROCID");
  return std::nullopt;
}

std::string started_by_other(const std::string& mpi, const Environment& environment) {
  std::string other;
  for (const auto& [name, variable] : kRankOf) {
    if (!environment.has(variable)) continue;
    if (name == mpi) return "";
    if (other.empty()) other = name;
  }
  // Slurm's PMI-2 sets MPICH's variable for all; Open MPI says so itself if it does not understand PMI-2.
  return other == "mpich" && environment.get("SLURM_MPI_TYPE") == "pmi2" ? "" : other;
}

std::string mpi_of_rank(const Environment& environment) {
  for (const auto& [variable, mpi] : kTellsMpi) {
    if (environment.has(variable)) return mpi;
  }
  return "";
}

}  // namespace marline::launch
