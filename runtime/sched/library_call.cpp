// SPDX-License-Identifier: Apache-2.0
//
// Enters and leaves calls of libraries. The thread-local is reached by functions that are not inlined, so that no
// caller keeps its address: a task may continue on another thread.
#include "sched/library_call.hpp"

extern "C" {
// From sched/this_worker.cpp: accessed without a call, because every MPI call comes through here.
[[gnu::visibility("hidden"),
  gnu::tls_model("initial-exec")]] extern constinit thread_local marline::Worker* marline_this_worker;
}

namespace marline {

namespace {

struct InLibrary {
  Worker* caller;
  int depth;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local InLibrary t_inside{nullptr, 0};

}  // namespace

[[gnu::noinline]] void library_enter(LibraryCall* call) {
  InLibrary& inside = t_inside;
  Worker* worker = marline_this_worker;
  *call = {worker, inside.caller};
  ++inside.depth;
  if (worker == nullptr) return;
  inside.caller = worker;
  // A signal handler finds the thread inside a library, or with its worker: never as an unknown thread.
  fence_signal();
  marline_this_worker = nullptr;
}

// Apart, so that a call without a callback saves no registers.
[[gnu::noinline, gnu::cold]] static void leave_after_callback(const LibraryCall* call) {
  end_callback(marline_this_worker);
  library_leave(call);
}

[[gnu::noinline]] void library_leave(const LibraryCall* call) {
  if (marline_this_worker != nullptr) [[unlikely]]
    return leave_after_callback(call);
  if (call->worker != nullptr) marline_this_worker = call->worker;
  fence_signal();  // for signal handlers, as in library_enter
  InLibrary& inside = t_inside;
  --inside.depth;
  inside.caller = call->caller;
}

[[gnu::noinline]] bool is_inside_library() { return t_inside.depth > 0; }

[[gnu::noinline]] Worker* library_caller() { return t_inside.caller; }

}  // namespace marline
