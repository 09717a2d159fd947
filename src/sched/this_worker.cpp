// SPDX-License-Identifier: Apache-2.0
//
// The one thread-local variable of the runtime, and the only place that touches it. A fiber may go on on another thread
// after any switch, and compilers are free to keep the *address* of a thread-local across a call; so the access is
// behind a call into a file that never switches, and is not inlined.
#include "sched/team.hpp"

namespace marline {

namespace {
// initial-exec: the library is loaded with the program (or takes 8 bytes of the loader's reserve), and an access is
// two instructions rather than a call to __tls_get_addr.
[[gnu::tls_model("initial-exec")]] thread_local Worker* t_worker = nullptr;
}  // namespace

[[gnu::noinline]] Worker* this_worker_or_null() { return t_worker; }

[[gnu::noinline]] void set_this_worker(Worker* worker) { t_worker = worker; }

}  // namespace marline
