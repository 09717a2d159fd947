// SPDX-License-Identifier: Apache-2.0
//
// The common part of the MPI wrappers. A wrapper, generated (mpi/generate.py) or written by hand, has three steps:
// enter, the call of the next library, leave. The functions here turn MPI's arguments into records. They are never
// inlined: under a runtime that suspends tasks, the call may return on another thread, and an address of thread-local
// storage from before the call must not be used after it.
#ifndef MARLINE_TRACE_MPI_CALLS_HPP
#define MARLINE_TRACE_MPI_CALLS_HPP

#include "file/record.hpp"
#include "mpi/library.hpp"

#define MARLINE_MPI extern "C" __attribute__((visibility("default")))

namespace marline::trace {

constexpr int kNone = -1;

// One call in progress; it is on the caller's stack across MPI's part of the call.
struct Call {
  u64 number;
  u64 comm = 0;
  int peer = kNone;
  int tag = kNone;
  u64 bytes = 0;
  u64 task = 0;
  // Of a recorder that keeps sums (sums/sums.hpp): when the call began, 0 if it keeps none, and where the thread was.
  u64 began = 0;
  unsigned outer_row = 0;
};

// Each returns `call` with its task.
MARLINE_COLD_TLS Call enter(Call call);
// For a call that is recorded only once it has found something: it began at `time`.
MARLINE_COLD_TLS Call enter_at(u64 time, Call call);
u64 poll_time();
// Notes that the call that began at `time` found nothing.
MARLINE_COLD_TLS void poll_failed(u64 number, u64 time);

// The receiving half of a call that also sends.
MARLINE_COLD_TLS void enter_receive(const Call& call, int source, int tag, u64 bytes);
// Request `index` is one that the call waits for or has completed; its handle may be gone already.
MARLINE_COLD_TLS void wait_for(u64 time, const Call& call, int index, MPI_Request request);
// The request is complete.
MARLINE_COLD_TLS void record_done(const Call& call, int index, const MPI_Status& status);
// The request was made or started; null requests are not recorded.
MARLINE_COLD_TLS void record_request(const Call& call, MPI_Request request);
MARLINE_COLD_TLS void record_free(const Call& call, MPI_Request request);

MARLINE_COLD_TLS void leave(const Call& call);
// For a call that received or found a message. After an error the status says nothing and is not read.
MARLINE_COLD_TLS void leave_received(const Call& call, int result, const MPI_Status& status);
// For a call that made a request, unless it failed.
MARLINE_COLD_TLS void leave_started(const Call& call, int result, const MPI_Request* request);

// The status to give to MPI in place of one that the program ignores.
inline MPI_Status* status_or(MPI_Status* given, MPI_Status& own) { return given == MPI_STATUS_IGNORE ? &own : given; }
// A status that says "nothing came". A request that only sends leaves it as it is in MPICH.
MPI_Status empty_status();

// Numbers of communicators (mpi/comm.cpp): the first use of one writes its identity and members.
u64 comm_id(MPI_Comm comm);
// The same for the communicator that a window was made on.
u64 window_comm_id(MPI_Win window);
void remember_window(int result, u64 comm, MPI_Win window);
// Called after a call that made `made` from `parent` (or from nothing that its processes share): gives it the identity
// that all its processes compute.
void remember_comm(int result, MPI_Comm parent, MPI_Comm made, int tag = 0);

// Messages that MPI_Mprobe has taken out of the matching, and their communicators (mpi/message.cpp).
void remember_message(MPI_Message message, u64 comm);
u64 forget_message(MPI_Message message);

// After MPI_Init: rank, name of the library, clock offset; before MPI_Finalize: clock offset again.
void begin_mpi();
void end_mpi();

}  // namespace marline::trace

#endif
