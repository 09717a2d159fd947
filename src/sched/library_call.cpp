// SPDX-License-Identifier: Apache-2.0
//
// See the header. The thread-local is reached by functions that are not inlined: no caller keeps its address, as a task
// may go on another thread.
#include "sched/library_call.hpp"

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
  Worker* worker = this_worker_or_null();
  *call = {worker, inside.caller};
  ++inside.depth;
  if (worker == nullptr) return;
  inside.caller = worker;
  set_this_worker(nullptr);
}

[[gnu::noinline]] void library_leave(const LibraryCall* call) {
  if (Worker* worker = this_worker_or_null()) [[unlikely]] {
    end_callback(worker);
  }
  InLibrary& inside = t_inside;
  --inside.depth;
  inside.caller = call->caller;
  if (call->worker != nullptr) set_this_worker(call->worker);
}

[[gnu::noinline]] bool is_inside_library() { return t_inside.depth > 0; }

[[gnu::noinline]] Worker* library_caller() { return t_inside.caller; }

}  // namespace marline
