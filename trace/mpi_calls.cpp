// SPDX-License-Identifier: Apache-2.0
//
// MPI arguments to records. Uses only PMPI functions that are local and do not block, so it may run inside any task.
#include "mpi_calls.hpp"

#include "clock.hpp"
#include "stream.hpp"

namespace marline::trace {
namespace {

u64 bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL) {
    return 0;
  }
  PMPI_Type_size(type, &size);
  return static_cast<u64>(count) * static_cast<u64>(size);
}

// MPI's own negative values (any source, no process, any tag) differ between libraries; all mean "none given".
i64 given(int value) { return value < 0 ? kNone : value; }

u64 request_id(MPI_Request request) { return (u64)request; }  // an integer in MPICH, a pointer in Open MPI

void emit_enter(Stream &stream, u64 time, const Call &call) {
  stream.emit_at(time, call.task, event::mpi_enter{.peer = given(call.peer), .tag = given(call.tag),
                                                   .bytes = call.bytes, .comm = call.comm, .call = call.number});
}

struct Arrived {
  i64 source;
  i64 tag;
  u64 bytes;
};

// An empty status (a send's, or of MPI_PROC_NULL) gives none, none, 0.
Arrived arrived(const MPI_Status &status) {
  int bytes = 0;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  return {given(status.MPI_SOURCE), given(status.MPI_TAG), bytes < 0 ? 0 : static_cast<u64>(bytes)};
}

}  // namespace

Call enter(u64 number, MPI_Comm comm, int peer, int tag, int count, MPI_Datatype type) {
  Call call = {number, 0, 0, peer, tag, 0};
  if (Stream *stream = Stream::mine()) {
    call.task = stream->current_task();
    call.comm = comm_id(comm);
    call.bytes = bytes_of(count, type);
    emit_enter(*stream, read_cycles(), call);
  }
  return call;
}

void enter_receive(const Call &call, int source, int tag, int count, MPI_Datatype type) {
  if (Stream *stream = Stream::mine()) {
    stream->emit(call.task, event::mpi_recv_side{.peer = given(source), .tag = given(tag),
                                                 .bytes = bytes_of(count, type), .comm = call.comm});
  }
}

Call enter_wait(u64 number, int count, const MPI_Request *requests) {
  Call call = {number, 0, 0, kNone, kNone, 0};
  if (Stream *stream = Stream::mine()) {
    call.task = stream->current_task();
    emit_enter(*stream, read_cycles(), call);
    for (int i = 0; i < count; ++i) {
      if (requests[i] != MPI_REQUEST_NULL) {
        stream->emit(call.task, event::mpi_wait{.request = request_id(requests[i]), .index = static_cast<u64>(i)});
      }
    }
  }
  return call;
}

u64 poll_time() { return read_cycles(); }

Call enter_poll(u64 time, u64 number, MPI_Comm comm, int peer, int tag, MPI_Request request) {
  Call call = {number, 0, 0, peer, tag, 0};
  if (Stream *stream = Stream::mine()) {
    call.task = stream->current_task();
    call.comm = comm_id(comm);
    emit_enter(*stream, time, call);
    if (request != MPI_REQUEST_NULL) {
      stream->emit(call.task, event::mpi_wait{.request = request_id(request), .index = 0});
    }
  }
  return call;
}

void leave(const Call &call) {
  if (Stream *stream = Stream::mine()) {
    stream->emit(call.task, event::mpi_exit{.peer = given(call.peer), .tag = given(call.tag), .bytes = call.bytes,
                                            .comm = call.comm, .call = call.number});
  }
}

void leave_received(const Call &call, int result, const MPI_Status &status) {
  if (result != MPI_SUCCESS) {
    leave(call);
  } else if (Stream *stream = Stream::mine()) {
    const Arrived message = arrived(status);
    stream->emit(call.task, event::mpi_exit{.peer = message.source, .tag = message.tag, .bytes = message.bytes,
                                            .comm = call.comm, .call = call.number});
  }
}

void leave_started(const Call &call, MPI_Request request) {
  if (Stream *stream = Stream::mine()) {
    stream->emit(call.task, event::mpi_request{.request = request_id(request)});
  }
  leave(call);
}

void record_done(const Call &call, int index, const MPI_Status &status) {
  if (Stream *stream = Stream::mine()) {
    const Arrived message = arrived(status);
    stream->emit(call.task, event::mpi_done{.peer = message.source, .tag = message.tag, .bytes = message.bytes,
                                            .index = static_cast<u64>(index), .cancelled = 0});
  }
}

}  // namespace marline::trace
