// SPDX-License-Identifier: Apache-2.0
//
// Entry points: start and end of MPI, point-to-point messages, requests. Each: enter, the PMPI call, leave.
#include "mpi_calls.hpp"
#include "recorder.hpp"

using namespace marline::trace;

MARLINE_MPI int MPI_Init(int *argc, char ***argv) {
  start_recording();
  const Call call = enter(call::k_MPI_Init, MPI_COMM_NULL);
  const int result = PMPI_Init(argc, argv);
  leave(call);
  begin_mpi();
  return result;
}

MARLINE_MPI int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  start_recording();
  const Call call = enter(call::k_MPI_Init_thread, MPI_COMM_NULL);
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  leave(call);
  begin_mpi();
  return result;
}

MARLINE_MPI int MPI_Finalize() {
  end_mpi();
  const Call call = enter(call::k_MPI_Finalize, MPI_COMM_NULL);
  const int result = PMPI_Finalize();
  leave(call);
  write_metadata();
  return result;
}

MARLINE_MPI int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Send, comm, dest, tag, count, type);
  const int result = PMPI_Send(buf, count, type, dest, tag, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Ssend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Ssend, comm, dest, tag, count, type);
  const int result = PMPI_Ssend(buf, count, type, dest, tag, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Bsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Bsend, comm, dest, tag, count, type);
  const int result = PMPI_Bsend(buf, count, type, dest, tag, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Rsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Rsend, comm, dest, tag, count, type);
  const int result = PMPI_Rsend(buf, count, type, dest, tag, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Status *status) {
  MPI_Status own;
  status = status_or(status, own);
  const Call call = enter(call::k_MPI_Recv, comm, source, tag, count, type);
  const int result = PMPI_Recv(buf, count, type, source, tag, comm, status);
  leave_received(call, result, *status);
  return result;
}

MARLINE_MPI int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int dest, int send_tag,
                             void *recv, int recv_count, MPI_Datatype recv_type, int source, int recv_tag,
                             MPI_Comm comm, MPI_Status *status) {
  MPI_Status own;
  status = status_or(status, own);
  const Call call = enter(call::k_MPI_Sendrecv, comm, dest, send_tag, send_count, send_type);
  enter_receive(call, source, recv_tag, recv_count, recv_type);
  const int result = PMPI_Sendrecv(send, send_count, send_type, dest, send_tag, recv, recv_count, recv_type, source,
                                   recv_tag, comm, status);
  leave_received(call, result, *status);
  return result;
}

MARLINE_MPI int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
  MPI_Status own;
  status = status_or(status, own);
  const Call call = enter(call::k_MPI_Probe, comm, source, tag);
  const int result = PMPI_Probe(source, tag, comm, status);
  leave_received(call, result, *status);
  return result;
}

MARLINE_MPI int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  MPI_Status own;
  status = status_or(status, own);
  const u64 time = poll_time();
  const int result = PMPI_Iprobe(source, tag, comm, flag, status);
  if (result == MPI_SUCCESS && *flag) {
    const Call call = enter_poll(time, call::k_MPI_Iprobe, comm, source, tag, MPI_REQUEST_NULL);
    leave_received(call, result, *status);
  }
  return result;
}

MARLINE_MPI int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                          MPI_Request *request) {
  const Call call = enter(call::k_MPI_Isend, comm, dest, tag, count, type);
  const int result = PMPI_Isend(buf, count, type, dest, tag, comm, request);
  leave_started(call, *request);
  return result;
}

MARLINE_MPI int MPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request *request) {
  const Call call = enter(call::k_MPI_Issend, comm, dest, tag, count, type);
  const int result = PMPI_Issend(buf, count, type, dest, tag, comm, request);
  leave_started(call, *request);
  return result;
}

MARLINE_MPI int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                          MPI_Request *request) {
  const Call call = enter(call::k_MPI_Irecv, comm, source, tag, count, type);
  const int result = PMPI_Irecv(buf, count, type, source, tag, comm, request);
  leave_started(call, *request);
  return result;
}

MARLINE_MPI int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  MPI_Status own;
  status = status_or(status, own);
  const Call call = enter_wait(call::k_MPI_Wait, 1, request);
  const int result = PMPI_Wait(request, status);
  if (result == MPI_SUCCESS) {
    record_done(call, 0, *status);
  }
  leave(call);
  return result;
}

// Without statuses from the program a receive from any source keeps its sender unknown: an array of our own would be an
// allocation per call.
MARLINE_MPI int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const Call call = enter_wait(call::k_MPI_Waitall, count, requests);
  const int result = PMPI_Waitall(count, requests, statuses);
  if (result == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE) {
    for (int i = 0; i < count; ++i) {
      record_done(call, i, statuses[i]);
    }
  }
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  MPI_Status own;
  status = status_or(status, own);
  const Call call = enter_wait(call::k_MPI_Waitany, count, requests);
  const int result = PMPI_Waitany(count, requests, index, status);
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) {
    record_done(call, *index, *status);
  }
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  MPI_Status own;
  status = status_or(status, own);
  const u64 time = poll_time();
  const MPI_Request tested = *request;
  const int result = PMPI_Test(request, flag, status);
  if (result == MPI_SUCCESS && *flag && tested != MPI_REQUEST_NULL) {
    const Call call = enter_poll(time, call::k_MPI_Test, MPI_COMM_NULL, kNone, kNone, tested);
    record_done(call, 0, *status);
    leave(call);
  }
  return result;
}
