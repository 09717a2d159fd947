// SPDX-License-Identifier: Apache-2.0
//
// Turns MPI arguments into records. Uses only MPI functions that are local and do not block, so it may run inside any
// task.
#include "mpi/calls.hpp"

#include <string.h>

#include "base/clock.hpp"
#include "base/recorder.hpp"
#include "base/stream.hpp"
#include "sums/sums.hpp"

namespace marline::trace {
namespace {

// Widths of fields in events.def.
constexpr int kBytesBits = 36;
constexpr int kIndexBits = 24;
constexpr u64 kMostPolls = (u64{1} << 16) - 1;
constexpr u64 kMostPollTime = (u64{1} << 48) - 1;
// Programs poll with a few calls in turn (MPI_Iprobe, MPI_Testsome): so many of the newest records are searched.
constexpr u64 kPollsInTurn = 4;

// MPI's own negative values (any source, no process, any tag) differ between libraries; all mean "none given".
i64 given(int value) { return value < 0 ? kNone : value; }

u64 request_id(MPI_Request request) { return (u64)request; }  // an integer in MPICH, a pointer in Open MPI

struct Arrived {
  i64 source;
  i64 tag;
  u64 bytes;
};

// An empty status (of a send, or of MPI_PROC_NULL) gives kNone, kNone, 0.
Arrived arrived(const MPI_Status& status) {
  MPI_Count bytes = 0;
  mpi().Get_elements_x(&status, MPI_BYTE, &bytes);
  return {given(status.MPI_SOURCE), given(status.MPI_TAG), saturated(bytes < 0 ? 0 : (u64)bytes, kBytesBits)};
}

unsigned row_of_call(ThreadSums& sums, const Call& call) { return sums.row_of({Sort::kMpi, 0, call.number, nullptr}); }

void begin_sum(u64 time, Call& call) {
  ThreadSums* sums = aggregating() ? ThreadSums::mine() : nullptr;
  if (sums == nullptr) return;
  call.began = time;
  call.outer_row = sums->enter_call(row_of_call(*sums, call), time);
}

void end_sum(const Call& call, u64 bytes) {
  ThreadSums* sums = aggregating() ? ThreadSums::mine() : nullptr;
  if (sums != nullptr && call.began != 0) sums->leave_call(row_of_call(*sums, call), call.outer_row, call.began, bytes);
}

void count_poll(Record& record, event::mpi_poll poll, u64 began, u64 ended) {
  ++poll.count;
  poll.busy += ended - began;
  poll.elapsed = ended - record.time;
  memcpy(record.payload, &poll, sizeof poll);
}

}  // namespace

Call enter_at(u64 time, Call call) {
  if (Stream* stream = Stream::mine()) {
    call.task = stream->current_task();
    call.bytes = saturated(call.bytes, kBytesBits);
    stream->emit_at(time, call.task,
                    event::mpi_enter{.peer = given(call.peer),
                                     .tag = given(call.tag),
                                     .bytes = call.bytes,
                                     .comm = call.comm,
                                     .call = call.number});
  } else {
    begin_sum(time, call);
  }
  return call;
}

Call enter(Call call) {
  if (Stream* stream = Stream::mine()) stream->note_site(call.number, call_site(), 0);
  return enter_at(read_cycles(), call);
}

u64 poll_time() { return read_cycles(); }

void poll_failed(u64 number, u64 time) {
  Stream* stream = Stream::mine();
  if (stream == nullptr) {
    Call call = {.number = number};
    begin_sum(time, call);
    end_sum(call, 0);
    return;
  }
  const u64 now = read_cycles();
  const u64 task = stream->current_task();
  for (u64 back = 0; back < kPollsInTurn; ++back) {
    Record* record = stream->young(back);
    if (record == nullptr || record->head != (task << 16 | event::mpi_poll::kNumber)) {
      break;
    }
    event::mpi_poll poll;
    memcpy(&poll, record->payload, sizeof poll);
    if (poll.call == number && poll.count < kMostPolls && now - record->time < kMostPollTime) {
      count_poll(*record, poll, time, now);
      return;
    }
  }
  stream->emit_at(time, task, event::mpi_poll{.busy = now - time, .call = number, .elapsed = now - time, .count = 1});
}

void enter_receive(const Call& call, int source, int tag, u64 bytes) {
  if (Stream* stream = Stream::mine()) {
    stream->emit(
        call.task,
        event::mpi_recv_side{
            .peer = given(source), .tag = given(tag), .bytes = saturated(bytes, kBytesBits), .comm = call.comm});
  }
}

void wait_for(u64 time, const Call& call, int index, MPI_Request request) {
  if (Stream* stream = request != MPI_REQUEST_NULL ? Stream::mine() : nullptr) {
    stream->emit_at(time, call.task, event::mpi_wait{.request = request_id(request), .index = static_cast<u64>(index)});
  }
}

void record_done(const Call& call, int index, const MPI_Status& status) {
  if (Stream* stream = Stream::mine()) {
    int cancelled = 0;
    mpi().Test_cancelled(&status, &cancelled);
    const Arrived message = cancelled ? Arrived{kNone, kNone, 0} : arrived(status);
    stream->emit(call.task, event::mpi_done{.peer = message.source,
                                            .tag = message.tag,
                                            .bytes = message.bytes,
                                            .index = saturated(static_cast<u64>(index), kIndexBits),
                                            .cancelled = cancelled != 0});
  }
}

void record_request(const Call& call, MPI_Request request) {
  if (Stream* stream = request != MPI_REQUEST_NULL ? Stream::mine() : nullptr) {
    stream->emit(call.task, event::mpi_request{.request = request_id(request)});
  }
}

void record_free(const Call& call, MPI_Request request) {
  if (Stream* stream = request != MPI_REQUEST_NULL ? Stream::mine() : nullptr) {
    stream->emit(call.task, event::mpi_free{.request = request_id(request)});
  }
}

void leave(const Call& call) {
  if (Stream* stream = Stream::mine()) {
    stream->emit(call.task, event::mpi_exit{.peer = given(call.peer),
                                            .tag = given(call.tag),
                                            .bytes = call.bytes,
                                            .comm = call.comm,
                                            .call = call.number});
  } else {
    end_sum(call, call.bytes);
  }
}

void leave_received(const Call& call, int result, const MPI_Status& status) {
  if (result != MPI_SUCCESS) {
    leave(call);
  } else if (Stream* stream = Stream::mine()) {
    const Arrived message = arrived(status);
    stream->emit(call.task, event::mpi_exit{.peer = message.source,
                                            .tag = message.tag,
                                            .bytes = message.bytes,
                                            .comm = call.comm,
                                            .call = call.number});
  } else if (call.began != 0) {
    end_sum(call, arrived(status).bytes);
  }
}

void leave_started(const Call& call, int result, const MPI_Request* request) {
  if (result == MPI_SUCCESS) {
    record_request(call, *request);
  }
  leave(call);
}

MPI_Status empty_status() {
  MPI_Status status;
  memset(&status, 0, sizeof status);
  status.MPI_SOURCE = MPI_PROC_NULL;
  status.MPI_TAG = MPI_ANY_TAG;
  return status;
}

}  // namespace marline::trace
