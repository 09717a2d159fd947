// SPDX-License-Identifier: Apache-2.0
//
// Defines the thread-local variable of sched/this_worker.hpp. Assembly names it, hence the C name.
#include "sched/this_worker.hpp"

extern "C" {
[[gnu::visibility("hidden"), gnu::tls_model("initial-exec"),
  gnu::used]] constinit thread_local marline::Worker* marline_this_worker = nullptr;
}

namespace marline {

[[gnu::noinline]] void set_this_worker(Worker* worker) { marline_this_worker = worker; }

}  // namespace marline
