// SPDX-License-Identifier: Apache-2.0
//
// Cancellation, error, the release of resources, and variables of devices, as Clang and LLVM's libraries call them.
#include "abi/kmp/types.hpp"
#include "config/device_variables.hpp"
#include "construct/environment/error.hpp"
#include "construct/sync/cancel.hpp"
#include "construct/workshare/loop.hpp"
#include "exec/team/pause.hpp"
#include "exec/worker/announce.hpp"

#include <cstring>

namespace marline::kmp {

namespace {

// kmp_cancel_kind_t, from 1 on.
CancelKind kind_of(int32_t kind) { return static_cast<CancelKind>(kind - 1); }

// After this, Clang's code jumps out of the loop and does not ask for further chunks.
int32_t leave_if(bool cancelled, CancelKind kind, const void* codeptr) {
  if (cancelled && (kind == CancelKind::kLoop || kind == CancelKind::kSections)) loop_leave(this_worker(), codeptr);
  return cancelled ? 1 : 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int32_t __kmpc_cancel(Ident*, int32_t, int32_t kind) {
  const void* codeptr = __builtin_return_address(0);
  return leave_if(cancel(this_worker(), kind_of(kind), codeptr), kind_of(kind), codeptr);
}

int32_t __kmpc_cancellationpoint(Ident*, int32_t, int32_t kind) {
  const void* codeptr = __builtin_return_address(0);
  return leave_if(cancellation_point(this_worker(), kind_of(kind), codeptr), kind_of(kind), codeptr);
}

int32_t __kmpc_cancel_barrier(Ident* where, int32_t) {
  return cancellable_barrier(this_worker(), barrier_kind(where), __builtin_return_address(0));
}

void __kmpc_error(Ident* where, int32_t severity, const char* message) {
  error_directive({.severity = severity,
                   .message = message,
                   .length = message != nullptr ? std::strlen(message) : 0,
                   .source = where != nullptr ? where->source : nullptr,
                   .codeptr = __builtin_return_address(0)});
}

// As omp_pause_resource on the host: 0 resume, 1 soft, 2 hard; 0 is success.
int32_t __kmpc_pause_resource(int32_t kind) { return pause_resources(kind); }

// From LLVM 24 on (kmp_device_env.cpp); -1 is the host. Null: nothing is said.
const char* __kmpc_get_device_env(const char* name, int device) {
  return name != nullptr ? device_variable(name, device) : nullptr;
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
