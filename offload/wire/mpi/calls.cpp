// SPDX-License-Identifier: Apache-2.0
//
// Finds the MPI library of the process, and looks up its functions and handles.
#include "wire/mpi/calls.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "../pmpi/abi.h"

namespace marline::offload::wire {

constinit Calls mpi{};

namespace {

constexpr const char* kLibraries[] = {MARLINE_PMPI_LIBRARIES};

void* open_library() {
  for (const char* name : kLibraries) {
    if (void* found = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return found;
  }
  // RTLD_GLOBAL: Open MPI's own plugins take its symbols from the global scope.
  for (const char* name : kLibraries) {
    if (void* found = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return found;
  }
  return nullptr;
}

class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) missing_ = name;
  }

#if MARLINE_MPI_IS_OPENMPI
  // Finds the object that the library itself uses. A program that is not position-independent has its own copy of an
  // object that it names, and the library uses that copy, too.
  void* object(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == nullptr) found = dlsym(library_, name);
    if (found == nullptr) missing_ = name;
    return found;
  }
#endif

  [[nodiscard]] const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

void find_functions(Finder& finder) {
  finder.find(mpi.initialized, "PMPI_Initialized");
  finder.find(mpi.finalized, "PMPI_Finalized");
  finder.find(mpi.init_thread, "PMPI_Init_thread");
  finder.find(mpi.query_thread, "PMPI_Query_thread");
  finder.find(mpi.finalize, "PMPI_Finalize");
  finder.find(mpi.error_string, "PMPI_Error_string");
  finder.find(mpi.comm_split, "PMPI_Comm_split");
  finder.find(mpi.comm_free, "PMPI_Comm_free");
  finder.find(mpi.comm_rank, "PMPI_Comm_rank");
  finder.find(mpi.comm_size, "PMPI_Comm_size");
  finder.find(mpi.comm_set_errhandler, "PMPI_Comm_set_errhandler");
  finder.find(mpi.comm_create_keyval, "PMPI_Comm_create_keyval");
  finder.find(mpi.comm_set_attr, "PMPI_Comm_set_attr");
  finder.find(mpi.comm_delete_attr, "PMPI_Comm_delete_attr");
  finder.find(mpi.comm_free_keyval, "PMPI_Comm_free_keyval");
  finder.find(mpi.bcast, "PMPI_Bcast");
  finder.find(mpi.allgather, "PMPI_Allgather");
  finder.find(mpi.isend, "PMPI_Isend");
  finder.find(mpi.irecv, "PMPI_Irecv");
  finder.find(mpi.test, "PMPI_Test");
  finder.find(mpi.cancel, "PMPI_Cancel");
  finder.find(mpi.wait, "PMPI_Wait");
  finder.find(mpi.get_count, "PMPI_Get_count");
}

void find_handles([[maybe_unused]] Finder& finder) {
#if MARLINE_MPI_IS_OPENMPI
  mpi.world = static_cast<MPI_Comm>(finder.object("ompi_mpi_comm_world"));
  mpi.self = static_cast<MPI_Comm>(finder.object("ompi_mpi_comm_self"));
  mpi.byte = static_cast<MPI_Datatype>(finder.object("ompi_mpi_byte"));
  mpi.errors_return = static_cast<MPI_Errhandler>(finder.object("ompi_mpi_errors_return"));
  mpi.no_request = static_cast<MPI_Request>(finder.object("ompi_request_null"));
#else
  mpi.world = MPI_COMM_WORLD;
  mpi.self = MPI_COMM_SELF;
  mpi.byte = MPI_BYTE;
  mpi.errors_return = MPI_ERRORS_RETURN;
  mpi.no_request = MPI_REQUEST_NULL;
#endif
}

bool is_ours(void* library, char* line, size_t room) {
  const char* abi = pmpi_abi_of(library);
  const char* own = pmpi_abi_title(pmpi_own_abi());
  if (abi == nullptr) {
    std::snprintf(line, room, "%s is older than MPI 3.0: use a newer one", own);
    return false;
  }
  if (std::strcmp(abi, pmpi_own_abi()) == 0) return true;
  char version[64];
  pmpi_version_of(library, version, sizeof version);
  std::snprintf(line, room, "the wire for %s meets '%s': load the wire for the program's own MPI", own, version);
  return false;
}

}  // namespace

bool find_mpi(char* line, size_t room) {
  void* library = open_library();
  if (library == nullptr) {
    std::snprintf(line, room, "no library of %s: %s; install it, or name its folder in LD_LIBRARY_PATH",
                  pmpi_abi_title(pmpi_own_abi()), dlerror());
    return false;
  }
  if (!is_ours(library, line, room)) return false;
  Finder finder(library);
  find_functions(finder);
  find_handles(finder);
  if (finder.missing() == nullptr) return true;
  std::snprintf(line, room, "the library of %s has no %s: use a newer one", pmpi_abi_title(pmpi_own_abi()),
                finder.missing());
  return false;
}

}  // namespace marline::offload::wire
