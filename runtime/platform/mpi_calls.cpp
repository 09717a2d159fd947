// SPDX-License-Identifier: Apache-2.0
#include "platform/mpi_calls.hpp"

#include "../common/environment.h"
#include "base/atomic.hpp"
#include "base/check.hpp"
#include "platform/elf_image.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace marline {

namespace {

constexpr const char* kLibraries[] = {"libmpi.so", "libmpich.so", "libmpi_abi.so"};  // a version follows
// What libmarline-mpi exports for the archive that programs link (mpi/compat/table.h).
constexpr const char* kLayersTable = "marline_mpi_table";
// C, and Fortran by mpif.h and mpi, and by mpi_f08.
constexpr const char* kInit[] = {"MPI_Init",         "MPI_Init_thread", "mpi_init_",
                                 "mpi_init_thread_", "mpi_init_f08_",   "mpi_init_thread_f08_"};

Atomic<bool> served{false};  // written by mpi_is_served; relaxed: it guards nothing
Atomic<bool> warned{false};  // by warn_of_unserved_mpi, likewise

// By the name that the library has given itself, as every MPI's does.
bool is_mpi(const ElfImage& image) {
  for (const char* library : kLibraries) {
    if (image.soname() != nullptr && std::strncmp(image.soname(), library, std::strlen(library)) == 0) return true;
  }
  return false;
}

bool refers_to_init(const ElfImage& image) {
  return image.any_binding([](const Binding& binding) {
    for (const char* name : kInit) {
      if (std::strcmp(binding.symbol, name) == 0) return true;
    }
    return false;
  });
}

// For dl_iterate_phdr: copies the path of MPI's library to `path`, of PATH_MAX bytes, and stops.
int find_mpi(dl_phdr_info* info, size_t, void* path) {
  ElfImage image;
  if (!image.read(*info) || !is_mpi(image)) return 0;
  std::snprintf(static_cast<char*>(path), PATH_MAX, "%s", image.path());
  return 1;
}

// For dl_iterate_phdr, whose first object is the program.
int ask_program(dl_phdr_info* info, size_t, void* initialises) {
  ElfImage image;
  *static_cast<bool*>(initialises) = image.read(*info) && refers_to_init(image);
  return 1;
}

bool program_initialises_mpi() {
  bool initialises = false;
  dl_iterate_phdr(ask_program, &initialises);
  return initialises;
}

// MPI 4.1, section 11.4.1: may be called at any time, by any thread.
using Initialized = int (*)(int*);
Atomic<Initialized> g_initialized{nullptr};  // written when MPI is found; relaxed: it is the address of constant code

bool is_initialised(Initialized initialized) {
  int flag = 0;
  if (initialized != nullptr) initialized(&flag);
  return flag != 0;
}

// The library then stays loaded, so that it can be asked at any time.
bool is_initialised(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  auto initialized = reinterpret_cast<Initialized>(dlsym(handle, "PMPI_Initialized"));
  if (g_initialized.exchange(initialized, relaxed) != nullptr) dlclose(handle);
  return is_initialised(initialized);
}

// For dl_iterate_phdr: how many objects have ever been loaded.
int count_loads(dl_phdr_info* info, size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = info->dlpi_adds;
  return 1;
}

Atomic<unsigned long long> g_loads_seen{0};  // at the last look; relaxed: each thread may look once more

bool has_loaded_more() {
  unsigned long long loads = 0;
  dl_iterate_phdr(count_loads, &loads);
  return g_loads_seen.exchange(loads, relaxed) != loads;
}

}  // namespace

Atomic<uint64_t> g_next_mpi_look{0};

void mpi_is_served() { served.store(true, relaxed); }

void look_for_unserved_mpi() {
  const bool is_known = served.load(relaxed) || warned.load(relaxed);
  g_next_mpi_look.store(is_known ? ~uint64_t{0} : cycles() + kTicksBetweenLooks, relaxed);
  if (is_known) return;
  const int error_number = errno;  // the program's: it need not know of the look
  Initialized initialized = g_initialized.load(relaxed);
  if (initialized != nullptr ? is_initialised(initialized) : has_loaded_more()) warn_of_unserved_mpi();
  errno = error_number;
}

void warn_of_unserved_mpi() {
  if (served.load(relaxed) || warned.load(relaxed)) return;
  char library[PATH_MAX];
  if (dl_iterate_phdr(find_mpi, library) == 0) return;
  const bool has_layer = dlsym(RTLD_DEFAULT, kLayersTable) != nullptr;
  if (!is_initialised(library) && (has_layer || !program_initialises_mpi())) return;
  warned.store(true, relaxed);
  if (!speaks_for_job()) return;
  if (has_layer) {
    warn(
        "MPI calls of this program go past libmarline-mpi to %s and block their threads, so that tasks which wait for "
        "messages may hang; load the library that makes them without RTLD_DEEPBIND, and not by dlsym of its handle",
        library);
    return;
  }
  warn(
      "MPI calls of this program (%s) block their threads, so that tasks which wait for messages may hang; start each "
      "rank by `marline run`, with --mpi where the program loads MPI itself, or preload libmarline-mpi.so, too: "
      "`marline run --print` says how",
      library);
}

}  // namespace marline
