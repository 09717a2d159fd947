// SPDX-License-Identifier: Apache-2.0
//
// Finds the MPI functions of the next library, and decides which kind of code calls the recorder's functions.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // RTLD_NEXT
#endif
#include "mpi/library.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pmpi/abi.h"
#include "../pmpi/caller.h"
#include "../pmpi/library.h"
#include "base/recorder.hpp"
#include "base/stream.hpp"

namespace marline::trace {

NextMpi next_functions;
bool next_resolved;  // written once, release; read by every wrapper

namespace {

pthread_once_t once = PTHREAD_ONCE_INIT;

// MPI's functions have one pointer each in NextMpi, in the order of pmpi_table.
static_assert(sizeof(NextMpi) % sizeof(void*) == 0);

// The return address of the program's MPI call on this thread. Written on entry; libmarline-mpi reads it before it
// suspends the task.
constinit thread_local const void* program_site __attribute__((tls_model("initial-exec"))) = nullptr;

// Warns if a tool that was linked to the program comes after a preloaded recorder. The recorder bypasses such a tool:
// MPI's convention is for one tool. Libraries define MPI_X and PMPI_X at one address, a tool defines MPI_X only.
void warn_of_later_tool() {
  for (size_t i = 0; i < pmpi_table_size; ++i) {
    const void* later = dlsym(RTLD_NEXT, pmpi_table[i].name + 1);  // the name without its P
    const void* library = dlsym(RTLD_NEXT, pmpi_table[i].name);
    Dl_info tool;
    Dl_info mpi;
    if (later != library && dladdr(later, &tool) != 0 && dladdr(library, &mpi) != 0 &&
        tool.dli_fbase != mpi.dli_fbase) {
      fprintf(stderr,
              "marline-trace: %s defines %s behind the recorder, which goes past it: preload it in front of the "
              "recorder, or run without one of them\n",
              tool.dli_fname, pmpi_table[i].name + 1);
      return;
    }
  }
}

// Functions of another ABI would misread MPI's handles.
void check_abi() {
  const char* abi = pmpi_abi_of(pmpi_handle());
  if (abi != nullptr && strcmp(abi, pmpi_own_abi()) == 0) {
    return;
  }
  char version[64];
  char line[256];
  pmpi_version_of(pmpi_handle(), version, sizeof version);
  if (abi == nullptr) {
    pmpi_fatal("no MPI library of version 3.0 or newer is loaded: preload lib/marline/libmarline-trace.so instead");
  }
  snprintf(
      line, sizeof line,
      "this recorder is built for %s, but the program runs '%s': preload lib/marline/%s/libmarline-trace.so instead",
      pmpi_abi_title(pmpi_own_abi()), version, abi);
  pmpi_fatal(line);
}

void resolve() {
  check_abi();
  pmpi_resolve(&next_functions);
  warn_of_later_tool();
  __atomic_store_n(&next_resolved, true, __ATOMIC_RELEASE);
}

}  // namespace

void resolve_next() { pthread_once(&once, resolve); }

bool recorded(const void* site) {
  program_site = site;
  return (Stream::mine() != nullptr || aggregating()) && wanted(kMpiEvents) && caller_of(site) != kCallerMpi;
}

const void* call_site() { return program_site; }

}  // namespace marline::trace

// For libmarline-mpi: it decides by the caller whether a call may suspend, and sees only the recorder as its caller.
extern "C" __attribute__((visibility("default"), noinline)) const void* marline_trace_caller() {
  return marline::trace::call_site();
}

// caller.c calls this function of the library that it is built into.
extern "C" const void* library_address() {
  const void* address = nullptr;
  memcpy(&address, &marline::trace::mpi().Init_thread, sizeof address);
  return address;
}

// library.c calls this function of the library that it is built into.
extern "C" void pmpi_fatal(const char* line) {
  fprintf(stderr, "marline-trace: %s\n", line);
  _exit(EXIT_FAILURE);
}
