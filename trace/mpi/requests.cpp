// SPDX-License-Identifier: Apache-2.0
//
// Entry points for calls on requests. A completion is recorded with the message that came, even if the program ignores
// the statuses: then the recorder passes its own array to MPI. Handles are copied before the call, because MPI
// overwrites the handles of requests that complete.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/recorder.hpp"
#include "base/stream.hpp"
#include "mpi/calls.hpp"

using namespace marline::trace;

namespace {

constexpr int kInline = 16;

// `count` elements, on the stack if they are few. Without memory there are none, and data() is null.
template <class Element>
class Scratch {
 public:
  explicit Scratch(int count) : data_(count <= kInline ? own_ : allocate(count)) {}
  ~Scratch() {
    if (data_ != own_) {
      free(data_);
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Element* data() { return data_; }

 private:
  static Element* allocate(int count) {
    return static_cast<Element*>(malloc(static_cast<size_t>(count) * sizeof(Element)));
  }
  Element own_[kInline];
  Element* data_;
};

// The requests of one call as they were before it, and the statuses that it will fill.
class Asked {
 public:
  Asked(int count, const MPI_Request* requests, MPI_Status* statuses)
      : count_(count > 0 ? count : 0),
        handles_(count_),
        own_(statuses == MPI_STATUSES_IGNORE ? count_ : 0),
        statuses_(statuses == MPI_STATUSES_IGNORE ? own_.data() : statuses) {
    for (int i = 0; handles_.data() != nullptr && i < count_; ++i) {
      handles_.data()[i] = requests[i];
    }
    for (int i = 0; statuses == MPI_STATUSES_IGNORE && statuses_ != nullptr && i < count_; ++i) {
      statuses_[i] = empty_status();
    }
    if (!complete()) {
      stop_recording("no memory for the requests of a call", strerror(ENOMEM), "free some");
    }
  }

  MPI_Status* statuses() { return statuses_ != nullptr ? statuses_ : MPI_STATUSES_IGNORE; }

  void record_wait(u64 time, const Call& call, int index) {
    if (complete()) {
      wait_for(time, call, index, handles_.data()[index]);
    }
  }

  // Request `index` is complete and `place` is the index of its status, unless the call failed and the status says
  // otherwise.
  void record_done(int result, const Call& call, int index, int place) {
    if (complete() && handles_.data()[index] != MPI_REQUEST_NULL &&
        (result == MPI_SUCCESS || (result == MPI_ERR_IN_STATUS && statuses_[place].MPI_ERROR == MPI_SUCCESS))) {
      marline::trace::record_done(call, index, statuses_[place]);
    }
  }

  int count() const { return count_; }

 private:
  bool complete() { return handles_.data() != nullptr && statuses_ != nullptr; }

  int count_;
  Scratch<MPI_Request> handles_;
  Scratch<MPI_Status> own_;
  MPI_Status* statuses_;
};

void record_found(u64 time, int result, const Call& call, Asked& asked, int found, const int* indices) {
  for (int i = 0; i < found; ++i) {
    asked.record_wait(time, call, indices[i]);
  }
  for (int i = 0; i < found; ++i) {
    asked.record_done(result, call, indices[i], i);
  }
}

// One request completed in a call that takes one status.
void record_single(u64 time, const Call& call, int index, MPI_Request request, const MPI_Status& status) {
  wait_for(time, call, index, request);
  record_done(call, index, status);
}

}  // namespace

MARLINE_MPI int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Wait(request, status);
  }
  MPI_Status own = empty_status();
  status = status_or(status, own);
  const MPI_Request asked = *request;
  const Call call = enter({.number = call::k_MPI_Wait});
  wait_for(poll_time(), call, 0, asked);
  const int result = mpi().Wait(request, status);
  if (result == MPI_SUCCESS && asked != MPI_REQUEST_NULL) {
    record_done(call, 0, *status);
  }
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Waitall(count, requests, statuses);
  }
  Asked asked(count, requests, statuses);
  const Call call = enter({.number = call::k_MPI_Waitall});
  for (int i = 0; i < asked.count(); ++i) {
    asked.record_wait(poll_time(), call, i);
  }
  const int result = mpi().Waitall(count, requests, asked.statuses());
  for (int i = 0; i < asked.count(); ++i) {
    asked.record_done(result, call, i, i);
  }
  leave(call);
  return result;
}

// For calls that wait for some of many requests, only the completed requests are recorded: recording all of them in
// each call would be quadratic.
MARLINE_MPI int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Waitany(count, requests, index, status);
  }
  MPI_Status own = empty_status();
  status = status_or(status, own);
  Asked asked(count, requests, status);
  const u64 time = poll_time();
  const Call call = enter_at(time, {.number = call::k_MPI_Waitany});
  const int result = mpi().Waitany(count, requests, index, status);
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) {
    record_found(time, result, call, asked, 1, index);
  }
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Waitsome(int count, MPI_Request requests[], int* found, int indices[], MPI_Status statuses[]) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Waitsome(count, requests, found, indices, statuses);
  }
  Asked asked(count, requests, statuses);
  const u64 time = poll_time();
  const Call call = enter_at(time, {.number = call::k_MPI_Waitsome});
  const int result = mpi().Waitsome(count, requests, found, indices, asked.statuses());
  if ((result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS) && *found != MPI_UNDEFINED) {
    record_found(time, result, call, asked, *found, indices);
  }
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Test(request, flag, status);
  }
  MPI_Status own = empty_status();
  status = status_or(status, own);
  const MPI_Request asked = *request;
  const u64 time = poll_time();
  const int result = mpi().Test(request, flag, status);
  if (result != MPI_SUCCESS || !*flag || asked == MPI_REQUEST_NULL) {
    poll_failed(call::k_MPI_Test, time);
    return result;
  }
  const Call call = enter_at(time, {.number = call::k_MPI_Test});
  record_single(time, call, 0, asked, *status);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Testall(count, requests, flag, statuses);
  }
  Asked asked(count, requests, statuses);
  const u64 time = poll_time();
  const int result = mpi().Testall(count, requests, flag, asked.statuses());
  if (result != MPI_ERR_IN_STATUS && (result != MPI_SUCCESS || !*flag)) {
    poll_failed(call::k_MPI_Testall, time);
    return result;
  }
  const Call call = enter_at(time, {.number = call::k_MPI_Testall});
  for (int i = 0; i < asked.count(); ++i) {
    asked.record_wait(time, call, i);
  }
  for (int i = 0; i < asked.count(); ++i) {
    asked.record_done(result, call, i, i);
  }
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Testany(count, requests, index, flag, status);
  }
  MPI_Status own = empty_status();
  status = status_or(status, own);
  Asked asked(count, requests, status);
  const u64 time = poll_time();
  const int result = mpi().Testany(count, requests, index, flag, status);
  if (result != MPI_SUCCESS || !*flag || *index == MPI_UNDEFINED) {
    poll_failed(call::k_MPI_Testany, time);
    return result;
  }
  const Call call = enter_at(time, {.number = call::k_MPI_Testany});
  record_found(time, result, call, asked, 1, index);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Testsome(int count, MPI_Request requests[], int* found, int indices[], MPI_Status statuses[]) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Testsome(count, requests, found, indices, statuses);
  }
  Asked asked(count, requests, statuses);
  const u64 time = poll_time();
  const int result = mpi().Testsome(count, requests, found, indices, asked.statuses());
  const bool has_found = result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS;
  if (!has_found || *found == MPI_UNDEFINED || *found == 0) {
    poll_failed(call::k_MPI_Testsome, time);
    return result;
  }
  const Call call = enter_at(time, {.number = call::k_MPI_Testsome});
  record_found(time, result, call, asked, *found, indices);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Start(MPI_Request* request) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Start(request);
  }
  const Call call = enter({.number = call::k_MPI_Start});
  const int result = mpi().Start(request);
  leave_started(call, result, request);
  return result;
}

MARLINE_MPI int MPI_Startall(int count, MPI_Request requests[]) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Startall(count, requests);
  }
  const Call call = enter({.number = call::k_MPI_Startall});
  const int result = mpi().Startall(count, requests);
  for (int i = 0; result == MPI_SUCCESS && i < count; ++i) {
    record_request(call, requests[i]);
  }
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Request_free(MPI_Request* request) {
  if (!recorded(__builtin_return_address(0))) {
    return mpi().Request_free(request);
  }
  const Call call = enter({.number = call::k_MPI_Request_free});
  record_free(call, *request);  // before: afterwards MPI may give the handle to another thread
  const int result = mpi().Request_free(request);
  leave(call);
  return result;
}

// For libmarline-mpi, where the poller completes the requests that are bound to tasks (mpi/engine/bind.c). Recorded as
// what MPI_Test would have found. `status` is valid.
MARLINE_MPI void marline_trace_request_done(MPI_Request request, const MPI_Status* status) {
  if (Stream::mine() == nullptr || !wanted(kMpiEvents) || request == MPI_REQUEST_NULL) {
    return;
  }
  const u64 time = poll_time();
  const Call call = enter_at(time, {.number = call::k_MPI_Test});
  record_single(time, call, 0, request, *status);
  leave(call);
}

// Fortran bindings and other tools call these.
MARLINE_MPI __attribute__((alias("MPI_Wait"))) decltype(MPI_Wait) PMPI_Wait;
MARLINE_MPI __attribute__((alias("MPI_Waitall"))) decltype(MPI_Waitall) PMPI_Waitall;
MARLINE_MPI __attribute__((alias("MPI_Waitany"))) decltype(MPI_Waitany) PMPI_Waitany;
MARLINE_MPI __attribute__((alias("MPI_Waitsome"))) decltype(MPI_Waitsome) PMPI_Waitsome;
MARLINE_MPI __attribute__((alias("MPI_Test"))) decltype(MPI_Test) PMPI_Test;
MARLINE_MPI __attribute__((alias("MPI_Testall"))) decltype(MPI_Testall) PMPI_Testall;
MARLINE_MPI __attribute__((alias("MPI_Testany"))) decltype(MPI_Testany) PMPI_Testany;
MARLINE_MPI __attribute__((alias("MPI_Testsome"))) decltype(MPI_Testsome) PMPI_Testsome;
MARLINE_MPI __attribute__((alias("MPI_Start"))) decltype(MPI_Start) PMPI_Start;
MARLINE_MPI __attribute__((alias("MPI_Startall"))) decltype(MPI_Startall) PMPI_Startall;
MARLINE_MPI __attribute__((alias("MPI_Request_free"))) decltype(MPI_Request_free) PMPI_Request_free;
