// SPDX-License-Identifier: Apache-2.0
//
// Teams on the host, cancellation and error, as Clang calls them.
#include "abi/kmp/microtask.hpp"
#include "abi/kmp/types.hpp"
#include "base/check.hpp"
#include "construct/cancel.hpp"
#include "exec/announce.hpp"
#include "exec/barrier.hpp"

#include <cstdarg>

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {

// A league of one team, which is the initial one: its function is called in the current task.
void __kmpc_fork_teams(Ident*, int32_t argc, Microtask microtask, ...) {
  void* arguments[kMaxArguments];
  va_list list;
  va_start(list, microtask);
  collect_arguments(arguments, argc, list);
  va_end(list);
  call_microtask(reinterpret_cast<void*>(microtask), this_worker()->id, 0, arguments, argc);
}

void __kmpc_push_num_teams(Ident*, int32_t, int32_t, int32_t) {}  // upper bounds: one team is within them
void __kmpc_push_num_teams_51(Ident*, int32_t, int32_t, int32_t, int32_t) {}
void __kmpc_set_thread_limit(Ident*, int32_t, int32_t) {}

int32_t __kmpc_cancel(Ident*, int32_t, int32_t) { return cancel_requested(); }
int32_t __kmpc_cancellationpoint(Ident*, int32_t, int32_t) { return 0; }

int32_t __kmpc_cancel_barrier(Ident*, int32_t) {
  team_barrier(this_worker(), tool::SyncRegion::kBarrierExplicit, __builtin_return_address(0));
  return 0;
}

void __kmpc_error(Ident*, int32_t severity, const char* message) {
  constexpr int32_t kWarning = 1;
  if (severity != kWarning) fatal("error directive: %s", message != nullptr ? message : "(none)");
  warn("error directive: %s", message != nullptr ? message : "(none)");
}

// For tools only.
void __kmpc_scope(Ident*, int32_t, void*) {
  announce_work(this_worker(), tool::Work::kScope, tool::Endpoint::kBegin, 1, __builtin_return_address(0));
}
void __kmpc_end_scope(Ident*, int32_t, void*) {
  announce_work(this_worker(), tool::Work::kScope, tool::Endpoint::kEnd, 1, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
