// SPDX-License-Identifier: Apache-2.0
//
// Finds the job's MPI and loads its wire.
#include "wire/mpi/mpi_loader.hpp"

#include "../common/environment.h"
#include "../common/launchers.h"
#include "base/report.hpp"

#include <dlfcn.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

namespace {

// Returns -1 if the variable is not set, or is no number.
int number_in(const char* name) {
  const char* text = trusted_variable(name);
  if (text == nullptr || *text == '\0') return -1;
  char* end;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value <= INT_MAX ? static_cast<int>(value) : -1;
}

[[nodiscard]] bool has_started_us(const LauncherRank& launcher, int& number, int& count) {
  number = number_in(launcher.rank);
  count = number_in(launcher.ranks);
  if (number < 0) return false;
  if (count > number) return true;
  count = 0;
  return std::strcmp(launcher.rank, "PMIX_RANK") == 0;
}

Mpi mpi_of(const LauncherRank& launcher) { return launcher.mpi == kLauncherOfMpich ? Mpi::mpich : Mpi::open_mpi; }

// RTLD_NOLOAD compares `name` with the names that loaded libraries have given themselves, in any scope.
[[nodiscard]] bool is_loaded(const char* name) {
  void* handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

Mpi find_loaded() {
  if (is_loaded("libmpi_abi.so.1")) return Mpi::standard;
  if (is_loaded("libmpi.so.40") || is_loaded("libmpi.so.80")) return Mpi::open_mpi;
  return is_loaded("libmpich.so.12") || is_loaded("libmpi.so.12") ? Mpi::mpich : Mpi::none;
}

Mpi find_launching() {
  int number, count;
  for (const LauncherRank& launcher : launcher_ranks) {
    if (has_started_us(launcher, number, count) && launcher.mpi != kLauncherOfAny) return mpi_of(launcher);
  }
  const char* plugin = trusted_variable("SLURM_MPI_TYPE");
  if (plugin == nullptr) return Mpi::none;
  if (std::strncmp(plugin, "pmix", 4) == 0) return Mpi::open_mpi;
  return std::strcmp(plugin, "pmi2") == 0 ? Mpi::mpich : Mpi::none;
}

[[nodiscard]] bool is_installed(const char* name, const char* other) {
  void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) handle = dlopen(other, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

Mpi find_installed() {
  const bool has_mpich = is_installed("libmpich.so.12", "libmpi.so.12");
  if (has_mpich == is_installed("libmpi.so.40", "libmpi.so.80")) return Mpi::none;
  return has_mpich ? Mpi::mpich : Mpi::open_mpi;
}

const char* library_of(Mpi mpi) {
  if (mpi == Mpi::standard) return "libmarline-wire-standard.so";
  return mpi == Mpi::open_mpi ? "libmarline-wire-openmpi.so" : "libmarline-wire-mpich.so";
}

// The path of library `name` in the folder of the library that contains this code, whatever name that was loaded by.
[[nodiscard]] bool path_beside(const char* name, char (&path)[PATH_MAX + 64]) {
  Dl_info self;
  char real[PATH_MAX];
  if (dladdr(reinterpret_cast<const void*>(&path_beside), &self) == 0 || realpath(self.dli_fname, real) == nullptr) {
    return false;
  }
  char* slash = std::strrchr(real, '/');
  if (slash == nullptr) return false;
  std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(slash - real), real, name);
  return true;
}

}  // namespace

bool launched_by_mpi(int& number, int& count) {
  for (const LauncherRank& launcher : launcher_ranks) {
    if (has_started_us(launcher, number, count)) return true;
  }
  return false;
}

Mpi find_mpi_of_job() {
  Mpi mpi = find_loaded();
  if (mpi == Mpi::none) mpi = find_launching();
  return mpi != Mpi::none ? mpi : find_installed();
}

const WireKind* load_mpi_wire() {
  const Mpi mpi = find_mpi_of_job();
  if (mpi == Mpi::none) {
    fatal(
        "devices on other processes by MPI, but this process has loaded no MPI and no launcher of Open MPI or MPICH "
        "has started it: start it by mpirun, or by srun with --mpi=pmix or --mpi=pmi2, or link it with MPI");
  }
  const char* name = library_of(mpi);
  char path[PATH_MAX + 64];
  void* library = path_beside(name, path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr)
    fatal("cannot load %s: %s; this installation is incomplete: install Marline again", name, dlerror());
  auto kind = reinterpret_cast<const WireKind* (*)()>(dlsym(library, "marline_wire_kind"));
  if (kind == nullptr) fatal("%s is no wire of Marline: install all of one version", path);
  return kind();
}

}  // namespace marline::offload::wire
