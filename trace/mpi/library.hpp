// SPDX-License-Identifier: Apache-2.0
//
// The MPI functions of the next library after the recorder, and which calls of the program are recorded. The recorder
// defines MPI_X and PMPI_X (Fortran bindings and other tools call either), so it reaches the next library's PMPI_X by
// address: libmarline-mpi's, or MPI's own. Everything in trace/ that needs MPI calls it through mpi(), and such calls
// are never recorded.
#ifndef MARLINE_TRACE_MPI_LIBRARY_HPP
#define MARLINE_TRACE_MPI_LIBRARY_HPP

#include <mpi.h>  // of pmpi/abi

#include "mpi_next.hpp"  // generated: struct NextMpi, one pointer per function of this mpi.h

#define MARLINE_COLD_TLS __attribute__((noinline))  // the reason is in mpi/calls.hpp

namespace marline::trace {

// Filled once, before the first use, and only read afterwards.
extern NextMpi next_functions;
extern bool next_resolved;

__attribute__((cold)) void resolve_next();

inline const NextMpi& mpi() {
  // Pairs with the release in resolve_next(): a thread that sees the flag sees the functions.
  if (__builtin_expect(!__atomic_load_n(&next_resolved, __ATOMIC_ACQUIRE), 0)) {
    resolve_next();
  }
  return next_functions;
}

// Whether the call from `site` is to be recorded: the program makes it (MPI's own libraries use MPI, too), and
// recording is on. The first thing in a wrapper: it also stores for libmarline-mpi who calls (marline_trace_caller).
MARLINE_COLD_TLS bool recorded(const void* site);
// What this thread has given to recorded() last.
MARLINE_COLD_TLS const void* call_site();

}  // namespace marline::trace

#endif
