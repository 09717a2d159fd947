// SPDX-License-Identifier: Apache-2.0
//
// What the MPI wrappers share. A wrapper is: enter, the PMPI call, leave; the functions here turn MPI's arguments into
// records. They are never inlined: under a runtime that suspends tasks the thread may be another one after the PMPI
// call, and an address of thread-local storage from before it must not be used after it.
#ifndef MARLINE_TRACE_MPI_CALLS_HPP
#define MARLINE_TRACE_MPI_CALLS_HPP

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "record.hpp"

#define MARLINE_MPI extern "C" __attribute__((visibility("default")))
#define MARLINE_COLD_TLS __attribute__((noinline))

namespace marline::trace {

// One call under way; lives on the caller's stack across the PMPI call.
struct Call {
  u64 number;
  u64 task;
  u64 comm;
  int peer;
  int tag;
  u64 bytes;
};

constexpr int kNone = -1;

// A call with a peer (or root), a tag and a buffer; leave those out that the call has not.
MARLINE_COLD_TLS Call enter(u64 number, MPI_Comm comm, int peer = kNone, int tag = kNone, int count = 0,
                            MPI_Datatype type = MPI_DATATYPE_NULL);
// The receiving half of a call that also sends.
MARLINE_COLD_TLS void enter_receive(const Call &call, int source, int tag, int count, MPI_Datatype type);
// A call on requests.
MARLINE_COLD_TLS Call enter_wait(u64 number, int count, const MPI_Request *requests);
// The same for a poll that succeeded: it began at `time`, and one that fails leaves no record.
MARLINE_COLD_TLS Call enter_poll(u64 time, u64 number, MPI_Comm comm, int peer, int tag, MPI_Request request);
u64 poll_time();

MARLINE_COLD_TLS void leave(const Call &call);
// For a call that received or found a message; after an error the status says nothing and is not read.
MARLINE_COLD_TLS void leave_received(const Call &call, int result, const MPI_Status &status);
// For a call that made a request.
MARLINE_COLD_TLS void leave_started(const Call &call, MPI_Request request);
// Request `index` of those that the call waits for is finished.
MARLINE_COLD_TLS void record_done(const Call &call, int index, const MPI_Status &status);

// The status to give to MPI in place of one that the program ignores.
inline MPI_Status *status_or(MPI_Status *given, MPI_Status &own) { return given == MPI_STATUS_IGNORE ? &own : given; }

// Number of the communicator in this process; the first use writes its members.
u64 comm_id(MPI_Comm comm);
// After MPI_Init: rank, name of the library, clock offset; before MPI_Finalize: clock offset again.
void begin_mpi();
void end_mpi();

}  // namespace marline::trace

#endif
