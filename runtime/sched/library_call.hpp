// SPDX-License-Identifier: Apache-2.0
//
// Calls into libraries that may call the program back: MPI runs a reduction or an error handler inside of a call, or of
// a poll. The code below the library's frames must not leave the thread, and no other task may run on the thread
// meanwhile: it would enter the library, which holds its own locks and is in the middle of something.
//
// So the thread gives up its worker for the time of the call. To the runtime it is then a thread that it has not seen.
// If the program's code uses OpenMP there, it gets a worker of its own (exec/team/callback.cpp), with its own queues
// and fibers, which goes when the call returns. A call that does not call back costs a few stores.
//
// Calls nest: a callback may call a library. Everything here belongs to the calling thread.
#pragma once

#include "sched/team.hpp"

namespace marline {

// On the stack of the function that calls the library: what comes back at its end.
struct LibraryCall {
  Worker* worker;  // the thread's, or null
  Worker* caller;  // that of the call around, or null
};

void library_enter(LibraryCall* call);
void library_leave(const LibraryCall* call);

// Whether the thread is inside a call of a library.
bool is_inside_library();

// The worker that has called the library; null: a thread that the runtime has not seen, or that is in no call.
Worker* library_caller();

// Whether the thread is inside of a library, or works for somebody who is. `worker`: its own, or null.
inline bool is_called_back(const Worker* worker) {
  return worker != nullptr ? worker->called_back : is_inside_library();
}

// The thread's worker, or the one that has called the library: for whom it is enough to queue what becomes ready.
inline Worker* acting_worker() {
  Worker* worker = this_worker_or_null();
  return worker != nullptr ? worker : library_caller();
}

// A thread without a worker uses OpenMP inside a call of a library, and the call ends (exec/team/callback.cpp).
Worker* begin_callback();
void end_callback(Worker* worker);

}  // namespace marline
