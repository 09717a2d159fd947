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

#include "../pmpi/caller.h"
#include "base/recorder.hpp"
#include "base/stream.hpp"

namespace marline::trace {

NextMpi next_functions;
bool next_resolved;  // written once, release; read by every wrapper

namespace {

pthread_once_t once = PTHREAD_ONCE_INIT;

constexpr size_t kNextCount = sizeof kNextNames / sizeof kNextNames[0];
static_assert(sizeof(NextMpi) == kNextCount * sizeof(void*));

// The return address of the program's MPI call on this thread. Written on entry; libmarline-mpi reads it before it
// suspends the task.
constinit thread_local const void* program_site __attribute__((tls_model("initial-exec"))) = nullptr;

// Warns if a tool that was linked to the program comes after a preloaded recorder. The recorder bypasses such a tool:
// MPI's convention is for one tool. Libraries define MPI_X and PMPI_X at one address, a tool defines MPI_X only.
void warn_of_later_tool() {
  for (size_t i = 0; i < kNextCount; ++i) {
    const void* later = dlsym(RTLD_NEXT, kNextNames[i] + 1);  // the name without its P
    const void* library = dlsym(RTLD_NEXT, kNextNames[i]);
    Dl_info tool;
    Dl_info mpi;
    if (later != library && dladdr(later, &tool) != 0 && dladdr(library, &mpi) != 0 &&
        tool.dli_fbase != mpi.dli_fbase) {
      fprintf(stderr,
              "marline-trace: %s defines %s behind the recorder, which goes past it: preload it in front of the "
              "recorder, or run without one of them\n",
              tool.dli_fname, kNextNames[i] + 1);
      return;
    }
  }
}

void resolve() {
  for (size_t i = 0; i < kNextCount; ++i) {
    void* address = dlsym(RTLD_NEXT, kNextNames[i]);
    if (address == nullptr) {
      fprintf(stderr,
              "marline-trace: the MPI library has no %s, which the mpi.h that the recorder was built with "
              "declares: rebuild Marline with this MPI, or run without the recorder\n",
              kNextNames[i]);
      exit(EXIT_FAILURE);
    }
    memcpy(reinterpret_cast<char*>(&next_functions) + i * sizeof address, &address, sizeof address);
  }
  warn_of_later_tool();
  __atomic_store_n(&next_resolved, true, __ATOMIC_RELEASE);
}

}  // namespace

void resolve_next() { pthread_once(&once, resolve); }

bool recorded(const void* site) {
  program_site = site;
  return Stream::mine() != nullptr && wanted(kMpiEvents) && caller_of(site) != kCallerMpi;
}

}  // namespace marline::trace

// For libmarline-mpi: it decides by the caller whether a call may suspend, and sees only the recorder as its caller.
extern "C" __attribute__((visibility("default"), noinline)) const void* marline_trace_caller() {
  return marline::trace::program_site;
}

// caller.c calls this function of the library that it is built into.
extern "C" const void* library_address() {
  const void* address = nullptr;
  memcpy(&address, &marline::trace::mpi().Init_thread, sizeof address);
  return address;
}
