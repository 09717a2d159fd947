// SPDX-License-Identifier: Apache-2.0
//
// Calls of libraries that may call the program back: MPI runs a reduction or an error handler inside a call or a poll.
// The code under the library's frames must not leave the thread, and no other task may run on the thread meanwhile: the
// task would enter the library while the library holds its own locks in the middle of an operation.
//
// So the thread gives up its worker for the time of the call. For the runtime it is then an unknown thread. If the
// program's code uses OpenMP there, the thread gets another worker (exec/team/callback.cpp), with its own queues and
// fibers, until the call returns. A call that does not call back costs a few stores.
//
// Calls nest: a callback may call a library. Everything here belongs to the calling thread.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The state that the end of the call restores. On the stack of the function that calls the library.
struct LibraryCall {
  Worker* worker;  // the thread's worker, or null
  Worker* caller;  // the worker that made the call around this one, or null
};

void library_enter(LibraryCall* call);
void library_leave(const LibraryCall* call);

// Whether the thread is inside a call of a library.
bool is_inside_library();

// The worker that has called the library; null: the thread is unknown to the runtime, or in no call.
Worker* library_caller();

// Whether the thread is inside a library call, or works for code that a library has called back. `worker`: the thread's
// own worker, or null.
inline bool is_called_back(const Worker* worker) {
  return worker != nullptr ? worker->context.called_back : is_inside_library();
}

// The thread's worker, or else the worker that has called the library: for callers that only queue ready tasks.
inline Worker* acting_worker() {
  Worker* worker = this_worker_or_null();
  return worker != nullptr ? worker : library_caller();
}

// begin_callback: a thread without a worker uses OpenMP inside a call of a library. end_callback: the call ends; never
// inlined, because every call of a library would save the registers that it needs. In exec/team/callback.cpp.
Worker* begin_callback();
[[gnu::noinline, gnu::cold]] void end_callback(Worker* worker);

}  // namespace marline
